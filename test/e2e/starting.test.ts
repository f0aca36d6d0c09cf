// Starting: the first output, and what must not influence a start.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { createStage, runBinary } from '../support/binary.ts'
import { workedMsOf } from '../support/effort.ts'
import { freePort } from '../support/free-port.ts'

const stage = createStage()
afterEach(stage.clear)

const linkFile = ({ dataDir }: { dataDir: string }) => join(dataDir, 'setup-link')

test('ready is four lines on standard output with the real port and the data folder', async () => {
  const server = await stage.start()
  expect(server.port).toBeGreaterThan(0)
  const [open, others, setup, data, rest] = server.stdout().split('\n')
  expect(open).toMatch(new RegExp(`^Open: +http://localhost:${server.port}$`))
  expect(others).toMatch(/^From other computers: +not yet; .*--host 0\.0\.0\.0/)
  expect(setup).toBe(`Make the administrator: the link is in ${linkFile(server)} (works once)`)
  expect(data).toMatch(new RegExp(`^Data: +${server.dataDir}$`))
  expect(rest).toBe('')
  expect(readFileSync(linkFile(server), 'utf8')).toMatch(/^http:\/\/localhost:\d+\/welcome\/\w{32}\n$/)
  expect(statSync(linkFile(server)).mode & 0o777).toBe(0o600)
  expect((await server.ask('/up')).status).toBe(200)
})

test('the ready line and links use the base URL if one is set', async () => {
  const server = await stage.start({ flags: ['--base-url', 'https://once.example/box/'] })
  expect(server.stdout()).toContain('links start with https://once.example/box\n')
  expect(readFileSync(linkFile(server), 'utf8')).toStartWith('https://once.example/box/welcome/')
  const { html_url, url_token } = await (await server.create({ payload: 'x' })).json()
  expect(html_url).toBe(`https://once.example/box/p/${url_token}/r`)
})

test('with --log-format json every line of both outputs is JSON', async () => {
  const server = await stage.start({ flags: ['--log-format', 'json'] })
  await server.ask('/robots.txt')
  expect(await server.end()).toBe(0)
  const lines = `${server.stdout()}${server.stderr()}`
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ url: server.url, dataDir: server.dataDir })
})

// Measures processor time, because the machine may be busy; the bench measures the time by the clock.
test('the first answer on a new data folder takes less than a second of processor time', async () => {
  const server = await stage.start()
  expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect(workedMsOf(server.pid)).toBeLessThan(1_000)
})

/** Files that would run code or set options in a program that reads its working directory. */
function hostileFolder(): { cwd: string; trace: string } {
  const cwd = stage.folder()
  const trace = join(cwd, 'it-ran')
  const variables =
    'ONCEBOX_PORT=1\nONCEBOX_HOST=0.0.0.0\nONCEBOX_ANONYMOUS_ACCESS=false\nNODE_ENV=development\n'
  for (const name of ['.env', '.env.local', '.env.production']) writeFileSync(join(cwd, name), variables)
  const evil = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`
  writeFileSync(join(cwd, 'evil.ts'), evil)
  writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n')
  writeFileSync(join(cwd, 'package.json'), '{"type": "commonjs", "main": "./evil.ts"}')
  writeFileSync(join(cwd, 'tsconfig.json'), '{"compilerOptions": {"jsxImportSource": "evil"}}')
  return { cwd, trace }
}

test('files in the working directory have no effect on serving', async () => {
  const { cwd, trace } = hostileFolder()
  const before = readdirSync(cwd)
  const server = await stage.start({ cwd })
  expect(server.url).toStartWith('http://localhost:')
  expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect((await server.ask('/')).status).toBe(200)
  expect(existsSync(trace)).toBe(false)
  expect(readdirSync(cwd)).toEqual(before)
})

test('files in the working directory have no effect on the settings', async () => {
  const { cwd, trace } = hostileFolder()
  const inside = await runBinary(['config'], { cwd })
  const outside = await runBinary(['config'], { cwd: stage.folder() })
  expect(inside).toEqual(outside)
  expect(inside.stdout).toContain('5100')
  expect(existsSync(trace)).toBe(false)
})

test('NODE_ENV=development in the environment reveals no causes of errors', async () => {
  const server = await stage.start({ env: { NODE_ENV: 'development' } })
  const refused = await server.create({ payload: 'PLANTED', expire_after_days: 'PLANTED' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).not.toContain('PLANTED')
  const unknown = await (await server.ask('/nowhere')).text()
  expect(unknown).not.toMatch(/\.tsx?\b|node_modules|^\s+at /m)
})

test('--version prints the version alone', async () => {
  const { stdout, stderr, code } = await runBinary(['--version'])
  expect({ stdout, stderr, code }).toEqual({ stdout: `${manifest.version}\n`, stderr: '', code: 0 })
})

test.each([
  [['--help'], ['serve', 'user', 'token', 'config']],
  [
    ['serve', '--help'],
    ['--data-dir', '--port', 'ONCEBOX_PORT', '5100', '--min-free-space'],
  ],
  [
    ['user', '--help'],
    ['add', 'list', 'password', 'disable', 'enable', 'remove'],
  ],
  [
    ['user', 'add', '--help'],
    ['EMAIL', '--admin', '--password-stdin', '--data-dir'],
  ],
  [
    ['token', '--help'],
    ['create', 'list', 'revoke'],
  ],
  [
    ['token', 'create', '--help'],
    ['EMAIL', '--name', '--data-dir'],
  ],
  [['config', '--help'], ['--data-dir']],
])('%p prints the help on standard output', async (args, words) => {
  const { stdout, stderr, code } = await runBinary(args)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  for (const word of words) expect(stdout).toContain(word)
})

test('all problems with flags and environment are reported together, with exit code 2 and no stack trace', async () => {
  const dataDir = join(stage.folder(), 'never-made')
  const { code, stdout, stderr } = await runBinary(
    [
      ...['serve', '--data-dir', dataDir, '--port', '99999', '--nonsense=1', '--host'],
      ...['--base-url', 'ftp://x', '--anonymous-access', 'perhaps', '--trusted-proxy', '10.0.0.0/99'],
      ...['--log-format=xml', 'word'],
    ],
    {
      env: { ONCEBOX_MAX_FILES: 'many', ONCEBOX_SWEEP_EVERY: '1y', ONCEBOX_KEY_FILE_FILE: '/does/not/exist' },
    },
  )
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  const words = [
    ...['--port', '99999', '65535', '--nonsense', '--host', '--base-url', 'ftp://x', 'http'],
    ...[
      '--anonymous-access',
      'perhaps',
      'true',
      '--trusted-proxy',
      '10.0.0.0/99',
      '--log-format',
      'xml',
      'json',
    ],
    ...['"word"', 'ONCEBOX_MAX_FILES', 'many'],
    ...['ONCEBOX_SWEEP_EVERY', '1y', 'ONCEBOX_KEY_FILE_FILE', '/does/not/exist'],
  ]
  for (const word of words) expect(stderr).toContain(word)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(existsSync(dataDir)).toBe(false)
})

test('an unknown variable causes a warning', async () => {
  const server = await stage.start({ env: { ONCEBOX_SERVICE_PORT_HTTP: '80' } })
  await server.untilLogged('ONCEBOX_SERVICE_PORT_HTTP is not a setting')
})

test('a flag takes precedence over its variable, and a variable over the default', async () => {
  const server = await stage.start({
    env: { ONCEBOX_PORT: '1', ONCEBOX_EXPIRE_AFTER_VIEWS_DEFAULT: '9' },
    flags: ['--expire-after-days-default=3'],
  })
  const push = await (await server.create({ payload: 'x' })).json()
  expect(push).toMatchObject({ expire_after_views: 9, expire_after_days: 3 })
})

test('the message for a port in use names its flag', async () => {
  const server = await stage.start()
  const { code, stdout, stderr } = await stage.serve(stage.folder(), '--port', String(server.port))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('--port')
  expect(stderr).toContain(String(server.port))
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('the server listens on both addresses of localhost, and refuses to start if one is in use', async () => {
  // No other test must get the port in between.
  const server = await stage.start({ flags: ['--port', String(freePort())] })
  for (const address of ['127.0.0.1', '[::1]'])
    expect((await fetch(`http://${address}:${server.port}/up`)).status).toBe(200)
  await server.end()
  const theirs = Bun.serve({ hostname: '::1', port: server.port, fetch: () => new Response('theirs') })
  try {
    const dataDir = stage.folder()
    const { code, stderr } = await stage.serve(dataDir, '--port', String(server.port))
    expect(code).toBe(1)
    expect(stderr).toContain(`Port ${server.port} on ::1 is in use`)
    await expect(fetch(`http://127.0.0.1:${server.port}/up`)).rejects.toThrow()
  } finally {
    await theirs.stop(true)
  }
})

test('an unknown host name is reported, and no data folder is created', async () => {
  const dataDir = join(stage.folder(), 'new')
  const { code, stderr } = await stage.serve(dataDir, '--host', 'no.such.name')
  expect(code).toBe(1)
  expect(stderr).toContain('The name no.such.name has no address here')
  expect(stderr).toContain('--host')
  expect(stderr).not.toContain('in use')
  expect(existsSync(dataDir)).toBe(false)
})
