import { describe, expect, test } from 'bun:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { pageOf } from '../../src/cli/manual.ts'
import manual from '../../src/cli/manual.txt' with { type: 'text' }
import { findKeysProblem } from '../../src/install/release-keys.ts'
import { type Setting, variableOf } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/table.ts'
import { createTrial } from './trial.ts'

describe('wrong input', () => {
  test('is reported all at once: unknown flags, arguments, missing and bad values, the environment', async () => {
    const trial = createTrial({ env: { ONCEBOX_HOST: 'a b' } })
    const argv = ['config', 'extra', '--bogus=hunter2', '--port', '--files=perhaps', '--qr-pushes', 'maybe']
    expect(await trial.run(...argv)).toBe(2)
    expect(trial.out).toEqual([])
    expect(trial.err).toEqual([
      'oncebox: 6 problems',
      '  unknown flag --bogus',
      '  unexpected argument "extra"',
      '  ONCEBOX_HOST "a b": must be an address or a host name without a port, such as 127.0.0.1, :: or localhost',
      '  --port: a value is missing, it must be a whole number from 0 to 65535',
      '  --files "perhaps": must be true or false (or 1, 0, yes, no, on, off)',
      '  --qr-pushes "maybe": must be true or false (or 1, 0, yes, no, on, off)',
      'See "oncebox config --help".',
    ])
  })

  test.each<[string, string]>([
    ['--nope', 'unknown flag --nope'],
    ['-x', 'unknown flag -x'],
    ['servve', 'unknown command "servve": did you mean serve?'],
    ['--port 0 config', 'the command config comes before all flags'],
    ['serve now', 'unexpected argument "now"'],
    ['serve -- --port', 'unexpected argument "--port"'],
    ['user ad', 'unknown command "user ad": did you mean add?'],
    [
      'user --data-dir /x list',
      'flags come after the command (one of add, list, password, two-factor-off, admin, no-admin, disable, enable, remove)',
    ],
    ['user add', 'EMAIL is missing'],
    ['user add ann', 'EMAIL "ann": must be an address such as ann@example.org'],
    ['user list ann@x', 'unexpected argument "ann@x"'],
    ['token revoke ann@x', 'NAME-OR-PREFIX is missing'],
    ['token create ann@x --name', "--name: a value is missing, it can't be blank"],
    ['user list --data-dir', '--data-dir: a value is missing, it must be a path'],
  ])('oncebox %s', async (line, problem) => {
    const trial = createTrial()
    expect(await trial.run(...line.split(' '))).toBe(2)
    expect(trial.err[0]).toBe(`oncebox: ${problem}`)
    expect(trial.err.at(-1)).toMatch(/^See "oncebox( user| token)?( \w+)? --help"\.$/)
    expect(trial.state.config).toBeUndefined()
  })

  test.each([
    ['serve extra', 'oncebox serve'],
    ['extra', 'oncebox'],
    ['--nope', 'oncebox'],
  ])('oncebox %s points to the help of %s', async (line, help) => {
    const trial = createTrial()
    expect(await trial.run(...line.split(' '))).toBe(2)
    expect(trial.err.at(-1)).toBe(`See "${help} --help".`)
  })

  test.each([
    ['nonsense --help', 'unknown command "nonsense" (there are serve, '],
    ['pusch -h', 'unknown command "pusch": did you mean push?'],
    ['help nonsense', 'unknown command "nonsense" (there are serve, '],
    ['user nonsense --help', 'unknown command "user nonsense" (there are add, '],
    ['help user nonsense', 'unknown command "user nonsense" (there are add, '],
  ])('oncebox %s says that there is no such command', async (line, problem) => {
    const trial = createTrial()
    expect(await trial.run(...line.split(' '))).toBe(2)
    expect(trial.out).toEqual([])
    expect(trial.err[0]).toStartWith(`oncebox: ${problem}`)
  })

  test('unknown variables cause only warnings', async () => {
    const trial = createTrial({ env: { ONCEBOX_SERVICE_HOST: '10.0.0.1' } })
    expect(await trial.run('config')).toBe(0)
    expect(trial.err.filter((line) => line.includes('warning'))).toEqual([
      'oncebox: warning: ONCEBOX_SERVICE_HOST is not a setting of Oncebox and is ignored',
    ])
  })
})

test.each<[string, boolean]>([
  ['--anonymous-access false', false],
  ['--anonymous-access=false', false],
  ['--anonymous-access', true],
  ['--anonymous-access --qr-pushes false', true],
  ['--anonymous-access=on', true],
  ['--port 0', true],
])('%s makes anonymous access %p', async (flags, expected) => {
  const trial = createTrial()
  const ended = trial.run(...flags.split(' '))
  await trial.isReady()
  trial.signal()
  expect(await ended).toBe(0)
  expect(trial.state.config?.anonymousAccess).toBe(expected)
})

test('config reports that the build has no release keys', async () => {
  const trial = createTrial()
  expect(await trial.run('config')).toBe(0)
  expect(trial.err).toEqual([findKeysProblem()].filter((said) => said !== null))
})

test('config shows every setting and its source', async () => {
  const trial = createTrial({ env: { ONCEBOX_PORT: '80' } })
  expect(await trial.run('config', '--accept-clock', '--trusted-proxy', '::1')).toBe(0)
  expect(trial.out).toHaveLength(Object.keys(settings).length + 1)
  expect(trial.out[0]).toMatch(/^SETTING +VALUE +FROM$/)
  const words = trial.out.map((line) => line.split(/ {2,}/))
  expect(words).toContainEqual(['--data-dir', '/home/ann/.local/share/oncebox', 'default'])
  expect(words).toContainEqual(['--port', '80', 'ONCEBOX_PORT'])
  expect(words).toContainEqual(['--accept-clock', 'true', '--accept-clock'])
  expect(words).toContainEqual(['--trusted-proxy', '::1', '--trusted-proxy'])
  expect(words).toContainEqual(['--max-payload-bytes', '1MiB', 'default'])
  expect(words).toContainEqual(['--base-url', '(the address of the request)', 'default'])
  expect(words).toContainEqual(['--key-file', '(instance.key in the data folder)', 'default'])
  expect(words).toContainEqual(['--cors-origins', 'none', 'default'])
})

describe('help', () => {
  const commands = [
    '',
    ...['serve', 'config', 'user', 'token'],
    ...['add', 'list', 'password', 'disable', 'enable', 'remove'].map((name) => `user ${name}`),
    ...['create', 'list', 'revoke'].map((name) => `token ${name}`),
  ]

  test.each(commands)('exists for "oncebox %s", and the version too', async (line) => {
    const words = line.split(' ').filter(Boolean)
    const help = createTrial()
    expect(await help.run(...words, '--help')).toBe(0)
    expect(help.err).toEqual([])
    expect(help.text()).toMatch(/^Usage: oncebox/)
    expect(help.text()).toContain('--version')
    for (const row of help.text().split('\n')) expect(row.length).toBeLessThanOrEqual(80)
    const version = createTrial()
    expect(await version.run(...words, '--version')).toBe(0)
    expect(version.out).toEqual(['3.0.0'])
  })

  test.each(['serve', 'config'])('of %s lists every setting with its default and variable', async (name) => {
    const trial = createTrial()
    await trial.run(name, '--help')
    const help = trial.text().replace(/\s+/g, ' ')
    for (const setting of Object.values<Setting>(settings)) {
      expect(help).toContain(setting.variableOnly ? 'Variables without a flag:' : `--${setting.flag} `)
      expect(help).toContain(variableOf(setting))
      expect(help).toContain(setting.help)
    }
    expect(help).toContain('Default: 512MiB. Environment: ONCEBOX_MIN_FREE_SPACE')
  })

  test.each<[string, string[]]>([
    ['user add', ['EMAIL', '--admin', '--password-stdin', '--data-dir']],
    ['user list', ['--data-dir']],
    ['user password', ['EMAIL', '--password-stdin', '--data-dir']],
    ['user remove', ['EMAIL', '--yes', '--data-dir']],
    ['token create', ['EMAIL', '--name', '--data-dir']],
    ['token revoke', ['EMAIL NAME-OR-PREFIX', '--data-dir']],
  ])('of %s names its flags and arguments', async (line, names) => {
    const trial = createTrial()
    await trial.run(...line.split(' '), '--help')
    for (const name of names) expect(trial.text()).toContain(name)
  })

  test('has a page for every command, and for nothing else', () => {
    const names = manual.match(/(?<=^== ).*/gm)
    expect(names).toEqual(['oncebox', ...COMMANDS.map(({ name }) => `oncebox ${name}`)])
  })

  test('has a text for every flag of a command, and for no other', () => {
    for (const { name, flags = {} } of COMMANDS) {
      const told = [...pageOf(name).flags].filter(([, text]) => text !== '').map(([flag]) => flag)
      // Skip flags that many commands share: their texts are in the code, not in the manual.
      const own = Object.values<Setting>(flags).filter(({ help }) => help === '')
      expect(told, name).toEqual(own.map(({ flag }) => flag))
    }
  })

  test('is shown for a group without a command, with an exit code for wrong usage', async () => {
    const trial = createTrial()
    expect(await trial.run('user')).toBe(2)
    expect(trial.out).toEqual([])
    expect(trial.text()).toContain('Usage: oncebox user COMMAND')
  })
})

test('version is also a command', async () => {
  for (const argv of [['version'], ['--version'], ['-V']]) {
    const trial = createTrial()
    expect(await trial.run(...argv)).toBe(0)
    expect(trial.out).toEqual(['3.0.0'])
  }
})

test.each([
  [['psuh', 'x'], 'did you mean push?'],
  [['recieve'], '(there are'],
  [['token', 'lst'], 'did you mean list?'],
  [['serve', '--prot', '80'], 'did you mean --port?'],
  [['help', 'psuh'], 'did you mean push?'],
  [['once.example/p/7k3m9qx2vn4t8bw5hj6r0yzacd'], 'a link comes after a command: oncebox get LINK'],
])('%p gets a hint', async (argv, hint) => {
  const trial = createTrial()
  expect(await trial.run(...argv)).toBe(2)
  expect(trial.err.join()).toContain(hint)
})
