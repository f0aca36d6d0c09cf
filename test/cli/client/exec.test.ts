// `oncebox exec`: checks all links before it spends a view, and gives the secrets to the command alone.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { PUSHES } from '../../support/api.ts'
import { useClients } from './clients.ts'

const { place, path, signedIn, tryOut, push, get, fake } = useClients()

const create = (text: string, ...flags: string[]) => push(tryOut({ input: text }), '--views', '1', ...flags)

/** Runs a shell script with `oncebox exec`; its output goes to the file `out`. */
async function exec(flags: string[], script: string, env: Record<string, string> = {}, trial = tryOut) {
  const made = trial({ env })
  const code = await made.run('exec', ...flags, '--', 'sh', '-c', `(${script}) > "${path('out')}" 2>&1`)
  return { code, out: read('out'), said: made.text() }
}

function read(name: string): string | null {
  try {
    return readFileSync(path(name), 'utf8')
  } catch {
    return null
  }
}

async function viewsLeft(link: string): Promise<unknown> {
  const token = /\/p\/(\w+)/.exec(link)?.[1]
  const log = await fetch(`${place.server.url}${PUSHES}/${token}/preview`)
  return Object(await log.json()).expired
}

describe('the command', () => {
  test('gets a secret in a variable, without the variables of oncebox and those that held a link', async () => {
    const LINK = await create('correct horse')
    const env = { LINK, COPY: `see ${LINK}`, ONCEBOX_X: '1', KEPT: 'yes' }
    const { code, out, said } = await exec(['--env', 'PW=@env:LINK'], 'printf "%s " "$PW"; env', env)
    expect([code, said]).toEqual([0, ''])
    expect(out).toStartWith('correct horse ')
    expect(out).toContain('KEPT=yes')
    expect(out).not.toMatch(/^(LINK|COPY|ONCEBOX_\w+)=/m)
  })

  test('gets a secret on standard input, exactly', async () => {
    const LINK = await create(' two\nlines \n')
    expect((await exec(['--stdin', '@env:LINK'], 'cat /dev/stdin', { LINK })).out).toBe(' two\nlines \n')
  })

  test('gets a secret in a private file in memory, which is removed afterwards', async () => {
    const LINK = await create('in a file')
    const script = 'echo "$F"; cat "$F"; stat -c " %a" "$F" "$(dirname "$F")"'
    const { code, out } = await exec(['--file', 'F=@env:LINK'], script, { LINK, XDG_RUNTIME_DIR: path('') })
    const [file = '', content] = out?.split('\n') ?? []
    expect([code, content]).toEqual([0, 'in a file 600'])
    expect(out).toEndWith(' 700\n')
    expect(file).toStartWith(path('oncebox-'))
    expect(readdirSync(path('')).sort()).toEqual(['out'])
  })

  test('gets several secrets, and the same link is opened once', async () => {
    const env = { A: await create('one'), B: await create('two') }
    const flags = ['--env', 'X=@env:A', '--env', 'Y=@env:B', '--env', 'Z=@env:A']
    expect((await exec(flags, 'echo $X $Y $Z', env)).out).toBe('one two one\n')
  })

  test('decrypts an end-to-end push with the key in its link, and cannot without it', async () => {
    writeFileSync(path('key.bin'), Buffer.from([0, 255, 10]))
    const env = {
      TEXT: await create('sealed', '--end-to-end'),
      FILE: await push(signedIn(), '--file', path('key.bin'), '--end-to-end', '--views', '1'),
    }
    const cut = { ...env, TEXT: env.TEXT.slice(0, -1) }
    const flags = ['--env', 'X=@env:TEXT', '--file', 'F=@env:FILE']
    const refused = await exec(flags, 'echo ran', cut)
    expect([refused.code, refused.out]).toEqual([125, null])
    expect(refused.said).toContain('X: The link holds no whole key')
    expect(refused.said).toContain('No view was spent')
    expect((await exec(flags, 'echo $X; od -An -tx1 "$F"', env)).out).toBe('sealed\n 00 ff 0a\n')
  })

  test('gets the decrypted content of an end-to-end push, and a truncated link uses up no view', async () => {
    const TEXT = await create('end to end', '--end-to-end')
    writeFileSync(path('key.bin'), 'a sealed file')
    const FILE = await push(signedIn(), '--file', path('key.bin'), '--end-to-end')
    const flags = ['--env', 'A=@env:TEXT', '--stdin', '@env:FILE']
    const cut = await exec(flags, 'true', { TEXT, FILE: FILE.slice(0, -3) })
    expect([cut.code, cut.said.includes('No view was spent')]).toEqual([125, true])
    expect((await exec(flags, 'printf "%s, " "$A"; cat', { TEXT, FILE })).out).toBe(
      'end to end, a sealed file',
    )
  })

  test('gets the content of a push of a single file', async () => {
    writeFileSync(path('key.bin'), Buffer.from([0, 255, 10]))
    const LINK = await push(signedIn(), '--file', path('key.bin'))
    const flags = ['--file', 'F=@env:LINK']
    expect((await exec(flags, 'od -An -tx1 "$F"', { LINK })).out?.trim()).toBe('00 ff 0a')
    const { code, said } = await exec(['--env', 'F=@env:LINK'], 'true', { LINK })
    expect([code, said]).toEqual([125, expect.stringContaining('no variable can hold it')])
  })

  test('gets a file on standard input without a copy of it on the way', async () => {
    writeFileSync(path('key.bin'), 'a file')
    for (const flags of [[], ['--end-to-end']]) {
      const LINK = await push(signedIn(), '--file', path('key.bin'), ...flags)
      const env = { LINK, XDG_RUNTIME_DIR: path('') }
      expect((await exec(['--stdin', '@env:LINK'], `cat; ls "${path('')}"`, env)).out).toBe(
        'a filekey.bin\nout\n',
      )
    }
  })

  test('is not run if the secret is too long for a variable', async () => {
    const LINK = await create('x'.repeat(200_000))
    const { code, out, said } = await exec(['--env', 'X=@env:LINK'], 'true', { LINK })
    expect([code, out]).toEqual([125, null])
    expect(said).toContain('too long for a variable')
  })

  test('gets the oldest unopened answer to a request', async () => {
    const asked = signedIn()
    await asked.run('request', '--answers', '3')
    const token = /\/q\/(\w+)/.exec(asked.out[0] ?? '')?.[1] ?? ''
    const flags = ['--env', `PW=@request:${token}`]
    const early = await exec(flags, 'echo $PW', {}, signedIn)
    expect([early.code, early.out]).toEqual([125, null])
    for (const payload of ['first', 'second'])
      await fetch(`${place.server.url}/api/oncebox/requests/${token}/answers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ push: { payload } }),
      })
    expect((await exec(flags, 'echo $PW', {}, signedIn)).out).toBe('first\n')
    expect((await exec(flags, 'echo $PW', {}, signedIn)).out).toBe('second\n')
    expect((await exec(flags, 'echo $PW')).code).toBe(125)
  })

  test('passes its exit code on, and the status file says whether it is that of the command', async () => {
    const LINK = await create('x')
    const flags = ['--env', 'PW=@env:LINK', '--status-file', path('status')]
    const status = () => JSON.parse(read('status') ?? '')
    expect((await exec(flags, 'exit 123', { LINK })).code).toBe(123)
    expect(status()).toEqual({ outcome: 'exited', exit_code: 123, signal: null })
    expect((await exec(flags, 'exit 0', { LINK })).code).toBe(123)
    expect(status()).toEqual({ outcome: 'gone', exit_code: 123, signal: null })
    expect(statSync(path('status')).mode & 0o777).toBe(0o600)
    expect(await tryOut().run('exec', '--no-such-flag', '--status-file', path('status'), '--', 'true')).toBe(
      125,
    )
    expect(status()).toEqual({ outcome: 'failed', exit_code: 125, signal: null })
    expect((await exec(flags, 'kill -KILL $$', { LINK: await create('y') })).code).toBe(137)
  })

  test('keeps the umask of the caller, and has no core dumps', async () => {
    const LINK = await create('x')
    const { out } = await exec(['--env', 'PW=@env:LINK'], 'umask; ulimit -c; ulimit -Hc', { LINK })
    expect(out).toBe('0022\n0\n0\n')
  })
})

describe('before a view is used up', () => {
  test.each([
    ['@env:NONE', 125, 'the variable NONE is not set'],
    ['@env:WRONG', 125, 'neither a secret link nor a token'],
    ['@env:MISSING', 123, 'no such push'],
    ['@env:LOCKED', 125, 'needs a passphrase'],
    ['@env:AWAY', 125, 'Cannot reach'],
    ['@env:USED', 123, 'already opened'],
    ['@fd:987', 125, 'the descriptor 987'],
  ])('%s ends exec with code %p', async (source, expected, words) => {
    const env = {
      GOOD: await create('still here'),
      WRONG: 'no link',
      MISSING: `${place.server.url}/p/${'z'.repeat(26)}`,
      LOCKED: await create('x', '--passphrase-file', fileWith('open sesame')),
      AWAY: `http://127.0.0.1:1/p/${'z'.repeat(26)}`,
      USED: await create('x'),
    }
    await get(env.USED)
    const { code, out, said } = await exec(['--env', 'A=@env:GOOD', '--env', `B=${source}`], 'echo ran', env)
    expect([code, out]).toEqual([expected, null])
    expect(said).toContain(words)
    expect(said).toContain('B: ')
    for (const link of Object.values(env)) expect(said).not.toContain(link.split('/p/')[1] ?? link)
    expect((await get(env.GOOD)).out).toContain('still here')
  })

  test('an unknown command is 127, and one that is no program 126', async () => {
    const LINK = await create('still here')
    const run = (...command: string[]) =>
      tryOut({ env: { LINK } }).run('exec', '--env', 'A=@env:LINK', '--', ...command)
    expect(await run('no-such-command', 'x')).toBe(127)
    expect(await run('/no/such/command')).toBe(127)
    expect(await run(path(''))).toBe(126)
    writeFileSync(path('plain'), '#!/bin/sh\n')
    expect(await run(path('plain'))).toBe(126)
    expect(await viewsLeft(LINK)).toBe(false)
  })

  test.each([
    [['--', 'true'], 'no secret to pass on'],
    [['--env', 'A=@env:LINK', 'true'], 'put "--" before the command'],
    [['--env', 'A=@env:LINK'], 'COMMAND is missing'],
    [['--env', 'PATH=@env:LINK', '--', 'true'], 'PATH is refused'],
    [['--env', 'A=@env:LINK', '--file', 'A=@env:LINK', '--', 'true'], 'A is given twice'],
    [['--stdin', '@env:LINK', '--stdin', '@env:LINK', '--', 'true'], 'only one standard input'],
    [
      ['--env', 'A=@env:LINK', '--passphrase-env', 'B=P', '--', 'true'],
      'no --env, --file or --stdin has this name',
    ],
  ])('%p is refused with 125', async (argv, words) => {
    const LINK = await create('still here')
    const trial = tryOut({ env: { LINK } })
    expect(await trial.run('exec', ...argv)).toBe(125)
    expect(trial.text()).toContain(words)
    expect(await viewsLeft(LINK)).toBe(false)
  })

  test('a status file that cannot be written is refused', async () => {
    const LINK = await create('still here')
    const { code } = await exec(['--env', 'A=@env:LINK', '--status-file', '/no/such/x'], 'true', { LINK })
    expect(code).toBe(125)
    expect(await viewsLeft(LINK)).toBe(false)
  })
})

describe('passphrases', () => {
  const flags = ['--env', 'A=@env:LOCKED', '--stdin', '@env:GOOD', '--passphrase-env', 'A=WORDS']

  test('are read from a variable that the command does not get', async () => {
    const env = {
      LOCKED: await create('secured', '--passphrase-file', fileWith('open sesame')),
      ...{ GOOD: await create('x'), WORDS: 'open sesame' },
    }
    const { code, out } = await exec(flags, 'echo "$A [$WORDS]"', env)
    expect([code, out]).toEqual([0, 'secured []\n'])
  })

  test('that are wrong use up no view, because their links are opened first', async () => {
    const GOOD = await create('still here')
    const LOCKED = await create('secured', '--passphrase-file', fileWith('open sesame'))
    const { code, said } = await exec(flags, 'echo ran', { LOCKED, GOOD, WORDS: 'wrong' })
    expect([code, said]).toEqual([125, expect.stringContaining('No view was spent')])
    expect(await viewsLeft(GOOD)).toBe(false)
  })
})

test('a link that ends between check and opening stops it, and the message names the links whose views are used up', async () => {
  const url = fake(({ url }) => {
    const { pathname } = new URL(url)
    if (pathname.endsWith('/preview'))
      return Response.json({ url, expired: false, passphrase_required: false })
    const isLost = pathname.includes('bbbb')
    return Response.json({
      url_token: 'aaaaaaaa',
      payload: isLost ? null : 'one',
      files: [],
      expired: isLost,
    })
  })
  const env = { A: `${url}/p/aaaaaaaa`, B: `${url}/p/bbbbbbbb` }
  const { code, out, said } = await exec(['--env', 'ONE=@env:A', '--env', 'TWO=@env:B'], 'echo ran', env)
  expect([code, out]).toEqual([123, null])
  expect(said).toContain('TWO: It has expired. Already spent: ONE. The command was not run.')
  expect(said).not.toContain('bbbbbbbb')
})

test('a link that somebody else has opened gives 123, and its owner is notified', async () => {
  const LINK = await push(signedIn({ input: 'x' }), '--views', '1')
  await get(LINK)
  expect((await exec(['--env', 'A=@env:LINK'], 'true', { LINK })).code).toBe(123)
  const headers = { authorization: `Bearer ${place.token}` }
  const { events } = await (await fetch(`${place.server.url}/api/oncebox/events`, { headers })).json()
  expect(events.at(-1).type).toBe('push.tried_after_end')
})

test('--verbose prints the steps before a failure, and nothing otherwise', async () => {
  const LINK = await create('x')
  expect((await exec(['--verbose', '--env', 'A=@env:LINK'], 'true', { LINK })).said).toBe('')
  const { said } = await exec(['--verbose', '--env', 'A=@env:LINK'], 'true', { LINK })
  expect(said).toContain('The command is /')
})

function fileWith(text: string): string {
  writeFileSync(path('words'), text)
  return path('words')
}
