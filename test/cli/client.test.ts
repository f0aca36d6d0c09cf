// The client commands, against a whole Oncebox and against other servers.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import decodeQr from 'qr/decode.js'
import { drawQr } from '../../src/cli/qr.ts'
import { type SocketServer, serveFake, startOnSocket } from '../support/socket.ts'
import { createTrial } from './trial.ts'

type Given = Parameters<typeof createTrial>[0]

let server: Awaited<ReturnType<typeof startOnSocket>>
let token: string
let folder: string
const fakes: SocketServer[] = []

beforeAll(async () => {
  server = await startOnSocket()
  token = await server.addAccount('ann@example.org')
})
afterAll(() => server.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-client-'))
})
afterEach(() => {
  for (const fake of fakes.splice(0)) fake.stop()
  rmSync(folder, { recursive: true, force: true })
})

const path = (name: string) => join(folder, name)

function tryOut(given: Given = {}) {
  return createTrial({ home: folder, ...given, env: { ONCEBOX_SERVER: server.url, ...given?.env } })
}

function signedIn(given: Given = {}) {
  return tryOut({ ...given, env: { ONCEBOX_TOKEN: token, ...given?.env } })
}

/** The link that a push printed. */
async function push(trial: ReturnType<typeof tryOut>, ...argv: string[]): Promise<string> {
  const code = await trial.run('push', ...argv)
  if (code !== 0) throw new Error(trial.text())
  return trial.out[0] ?? ''
}

async function get(link: string, ...argv: string[]) {
  const trial = tryOut()
  return { code: await trial.run('get', link, ...argv), out: trial.out.join(''), err: trial.err }
}

function fake(answer: (request: Request) => Response | Promise<Response>): string {
  const made = serveFake(answer)
  fakes.push(made)
  return made.url
}

describe('push and get', () => {
  test.each<[string, string, string]>([
    ['a line, without its line break', 'hunter2\n', 'hunter2'],
    ['a line with the line break of Windows', 'hunter2\r\n', 'hunter2'],
    ['several lines, unchanged', 'one\r\ntwo\n', 'one\r\ntwo\n'],
    ['a line without a line break', '  spaced  ', '  spaced  '],
    ['characters of every kind', '\ufeffé😀\u202e\u0000x', '\ufeffé😀\u202e\u0000x'],
  ])('%s', async (_, input, expected) => {
    const link = await push(tryOut({ input }))
    expect(link).toMatch(/\/p\/[0-9a-z]{26}\/r$/)
    expect(await get(link)).toEqual({ code: 0, out: expected, err: ['Views left: 4.'] })
  })

  test('a text from an argument, even if it looks like a flag', async () => {
    const link = await push(tryOut(), '--views', '1', '--', '--secret')
    expect(await get(link)).toEqual({ code: 0, out: '--secret', err: ['This was the last view.'] })
    expect(await get(link)).toMatchObject({ code: 3, err: ['oncebox: This push has expired.'] })
  })

  test('every flag', async () => {
    writeFileSync(path('pass'), 'sesame\n')
    const trial = signedIn({ input: 'x' })
    trial.shell.readFile = (file) => readFileSync(file, 'utf8')
    const flags = ['--views=2', '--duration', '1h', '--name', 'N', '--note', 'n', '--kind', 'qr']
    const more = ['--retrieval-step', 'false', '--deletable-by-viewer=no', '--passphrase-file', path('pass')]
    expect(await trial.run('push', ...flags, ...more, '--json')).toBe(0)
    expect(JSON.parse(trial.out.join(''))).toMatchObject({
      ...{ kind: 'qr', name: 'N', note: 'n', expire_after_views: 2, expire_after_days: 1 },
      ...{ retrieval_step: false, deletable_by_viewer: false, passphrase_required: true },
    })
    expect(trial.err[0]).toMatch(
      /^It expires after 2 views or on \d{4}-\d\d-\d\d \d\d:\d\d, whichever comes first\.$/,
    )
  })

  test('push asks for a new passphrase twice, and get asks until it is right', async () => {
    const link = await push(tryOut({ input: 'x', answers: ['sesame', 'sesame'] }), '--passphrase')
    const trial = tryOut({ answers: ['wrong', 'sesame'] })
    expect(await trial.run('get', link)).toBe(0)
    expect(trial.out).toEqual(['x'])
    expect(trial.err).toEqual([
      'This push needs a passphrase.',
      'Passphrase',
      'The passphrase is wrong.',
      'Passphrase',
      'Views left: 4.',
    ])
    expect(await get(link)).toMatchObject({ code: 4, err: ['oncebox: This push needs a passphrase.'] })
  })

  test('two different passphrases create nothing', async () => {
    const trial = tryOut({ input: 'x', answers: ['sesame', 'sesam'] })
    expect(await trial.run('push', '--passphrase')).toBe(1)
    expect(trial.out).toEqual([])
  })

  test('a text is written to a new file, and never overwrites one', async () => {
    const link = await push(tryOut({ input: 'kept' }))
    expect(await get(link, '--output', path('note.txt'))).toMatchObject({ code: 0, out: '' })
    expect(readFileSync(path('note.txt'), 'utf8')).toBe('kept')
    expect(statSync(path('note.txt')).mode & 0o77).toBe(0)
    const refused = await get(link, '--output', path('note.txt'))
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.err[0]).toContain('already exists')
    const nowhere = await get(link, '--output', path('note.txt/x'))
    expect(nowhere.code).toBe(2)
    expect(nowhere.err[0]).toContain('note.txt is not a folder')
    symlinkSync(path('gone'), path('dangling'))
    expect((await get(link, '--output', path('dangling'))).code).toBe(2)
    // None of the refusals counted as a view.
    expect((await get(link)).err).toEqual(['Views left: 3.'])
  })

  test('missing folders are created, and a text in a folder gets a new file', async () => {
    const link = await push(tryOut({ input: 'kept' }))
    expect((await get(link, '--output', path('made/here/note.txt'))).code).toBe(0)
    expect(readFileSync(path('made/here/note.txt'), 'utf8')).toBe('kept')
    for (const output of ['made', 'made/', 'new/folder/']) {
      expect(await get(link, '--output', path(output))).toMatchObject({ code: 0, out: '' })
    }
    expect(readdirSync(path('made')).sort()).toEqual(['here', 'push (2).txt', 'push.txt'])
    expect(readFileSync(path('new/folder/push.txt'), 'utf8')).toBe('kept')
    expect(statSync(path('new/folder/push.txt')).mode & 0o77).toBe(0)
  })

  test('links and servers work without a scheme and in capitals', async () => {
    const link = await push(tryOut({ input: 'x' }))
    expect(await get(link.replace('http://', ''))).toMatchObject({ code: 0, out: 'x' })
    expect(await get(link.toUpperCase())).toMatchObject({ code: 0, out: 'x' })
    const trial = createTrial({ home: folder, input: 'x' })
    expect(await trial.run('push', '--server', server.url.replace('http://', ''))).toBe(0)
  })

  test('a text that is too long for a QR code is still printed', async () => {
    const text = 'x'.repeat(5000)
    const received = await get(await push(tryOut({ input: text })), '--qr')
    expect(received).toMatchObject({ code: 0, out: text })
    expect(received.err.at(-1)).toContain('too long for a QR code')
  })

  test('control characters are not sent to a terminal', async () => {
    const link = await push(tryOut({ input: '\u001b[2Jx\u202ey\n' }))
    const trial = tryOut({ isOutputTerminal: true })
    expect(await trial.run('get', link)).toBe(0)
    expect(trial.out).toEqual(['␛[2Jx�y\n'])
    expect(trial.err.at(-1)).toContain('shown as signs')
  })
})

describe('files', () => {
  test('arrive complete under their names, with a text, and overwrite nothing', async () => {
    const names = ['a.txt', 'with "quotes" é.bin', 'empty']
    for (const name of names) writeFileSync(path(name), name === 'empty' ? '' : name.repeat(100_000))
    const trial = signedIn({ input: 'one\ntwo\n' })
    const link = await push(trial, '-', ...names.flatMap((name) => ['--file', path(name)]))
    const received = await get(link, '--output', path('in'))
    expect(received).toMatchObject({ code: 0, out: 'one\ntwo\n' })
    expect(readdirSync(path('in')).sort()).toEqual([...names].sort())
    for (const name of names) expect(readFileSync(path(`in/${name}`))).toEqual(readFileSync(path(name)))
    expect((await get(link, '--output', path('in'))).code).toBe(0)
    expect(readdirSync(path('in'))).toContain('a (2).txt')
  })

  test('--output can name a single file', async () => {
    writeFileSync(path('a'), 'content')
    const link = await push(signedIn(), '--file', path('a'))
    expect((await get(link, '--output', path('b'))).code).toBe(0)
    expect(readFileSync(path('b'), 'utf8')).toBe('content')
  })

  test('a file from standard input gets the name of --name', async () => {
    const link = await push(signedIn({ input: 'piped' }), '--file', '-', '--name', 'photos.tgz')
    expect((await get(link, '--output', path('in/'))).code).toBe(0)
    expect(readFileSync(path('in/photos.tgz'), 'utf8')).toBe('piped')
    const list = signedIn()
    await list.run('list')
    expect(list.out.join()).toContain('photos.tgz')
  })

  test('need a login, which is checked before sending', async () => {
    writeFileSync(path('a'), 'content')
    const trial = tryOut()
    expect(await trial.run('push', '--file', path('a'))).toBe(4)
    expect(trial.err).toEqual([`oncebox: Files need a login: "oncebox login ${server.url}".`])
  })

  test('an interrupted download resumes where it stopped', async () => {
    const content = Buffer.from('0123456789'.repeat(20_000))
    const ranges: (string | null)[] = []
    const url = fake((request) => {
      if (new URL(request.url).pathname.startsWith('/api')) return pushOf([fileAt(url, content.length)])
      const range = request.headers.get('range')
      ranges.push(range)
      const from = Number(/\d+/.exec(range ?? '0')?.[0])
      const rest = content.subarray(from)
      const body = ranges.length < 3 ? cutOff(rest.subarray(0, 50_000)) : rest
      return new Response(body, { status: from === 0 ? 200 : 206 })
    })
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received).toMatchObject({ code: 0 })
    expect(readFileSync(path('in'))).toEqual(content)
    expect(ranges.length).toBe(3)
    expect(ranges[2]).toMatch(/^bytes=[1-9]\d+-$/)
  }, 20_000)

  test('the same command resumes later, without another view', async () => {
    let asked = 0
    let isUp = false
    const url = fake((request) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/api')) {
        asked += 1
        return pushOf([fileAt(url, 7)])
      }
      return isUp ? new Response('content') : Response.json({ error: 'too busy' }, { status: 503 })
    })
    const first = await get(`${url}/p/abcdefgh`, '--output', folder)
    expect(first.code).toBe(5)
    isUp = true
    const second = await get(`${url}/p/abcdefgh`, '--output', folder)
    expect(second).toMatchObject({ code: 0 })
    expect(second.err[0]).toContain('uses up no view')
    expect(asked).toBe(1)
    expect(readdirSync(folder)).toEqual(['a.bin'])
  }, 30_000)

  test('an expired download link is requested again', async () => {
    let asked = 0
    const url = fake((request) => {
      if (!new URL(request.url).pathname.startsWith('/api'))
        return asked < 2 ? Response.json({ error: 'lapsed' }, { status: 403 }) : new Response('content')
      asked += 1
      return pushOf([fileAt(url, 7)])
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', folder)).code).toBe(3)
    expect((await get(`${url}/p/abcdefgh`, '--output', folder)).code).toBe(0)
    expect(readdirSync(folder)).toEqual(['a.bin'])
  })

  test('a hostile server cannot write outside the folder', async () => {
    const names = ['../../escape', '/etc/escape', '..', 'C:\\escape', '.oncebox-x.json', 'a\u0000b\u001b[2J']
    const url = fake((request) => {
      const files = names.map((filename) => ({ ...fileAt(url, 1), filename }))
      return new URL(request.url).pathname.startsWith('/api') ? pushOf(files) : new Response('x')
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', path('in'))).code).toBe(0)
    expect(readdirSync(path('in')).sort()).toEqual([
      'ab[2J',
      'escape',
      'escape (2)',
      'escape (3)',
      'file',
      'oncebox-x.json',
    ])
    expect(existsSync(join(folder, '../escape'))).toBe(false)
  })

  test('an unsafe name is made harmless, and the command says so', async () => {
    const names = [
      '.bash_profile',
      'con.txt',
      'a.txt:b.exe',
      'photo\u202egpj.exe',
      'A.TXT',
      'a.txt',
      'plain.txt',
    ]
    const url = fake((request) => {
      const files = names.map((filename) => ({ ...fileAt(url, 1), filename }))
      return new URL(request.url).pathname.startsWith('/api') ? pushOf(files) : new Response('x')
    })
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received.code).toBe(0)
    const expected = [
      'A.TXT',
      '_con.txt',
      'a (2).txt',
      'a.txt_b.exe',
      'bash_profile',
      'photogpj.exe',
      'plain.txt',
    ]
    expect(readdirSync(path('in')).sort()).toEqual(expected)
    const said = received.err.filter((line) => line.includes('The sender named it'))
    expect(said).toHaveLength(5)
    expect(said[0]).toEndWith('bash_profile (1 B). The sender named it ".bash_profile".')
    expect(said[3]).toEndWith('The sender named it "photo\\u202egpj.exe".')
  })

  test('--output sets the exact name of a single file', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 1)]) : new Response('x'),
    )
    const received = await get(`${url}/p/abcdefgh`, '--output', path('.bashrc'))
    expect(received.code).toBe(0)
    expect(received.err.join()).not.toContain('named it')
    expect(readdirSync(folder)).toEqual(['.bashrc'])
  })

  test('planted links in the folder are not followed', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 1)]) : new Response('x'),
    )
    writeFileSync(path('victim'), 'kept')
    mkdirSync(path('in'))
    const id = createHash('sha256').update(`${url} abcdefgh`).digest('hex').slice(0, 16)
    const planted = ['a.bin', `.oncebox-${id}.json`, `.oncebox-${id}.json.new`, `.oncebox-${id}-0.part`]
    for (const name of planted) symlinkSync(path('victim'), path(`in/${name}`))
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received).toMatchObject({ code: 0 })
    expect(readFileSync(path('victim'), 'utf8')).toBe('kept')
    expect(readdirSync(path('in')).sort()).toEqual(['a (2).bin', 'a.bin'])
  })

  test('several files resume in a new folder, without another view', async () => {
    let asked = 0
    let isUp = false
    const url = fake((request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/second' && !isUp) return Response.json({ error: 'too busy' }, { status: 503 })
      if (!pathname.startsWith('/api')) return new Response('content')
      asked += 1
      return pushOf([fileAt(url, 7), { filename: '.b', size: 7, url: `${url}/second` }])
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', path('in'))).code).toBe(5)
    isUp = true
    const second = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(second).toMatchObject({ code: 0 })
    expect(second.err.at(-1)).toContain('The sender named it ".b".')
    expect(asked).toBe(1)
    expect(readdirSync(path('in')).sort()).toEqual(['a.bin', 'b'])
  }, 30_000)

  test('a wrong announced size is noticed', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 3)]) : new Response('content'),
    )
    const received = await get(`${url}/p/abcdefgh`, '--output', path('x'))
    expect(received).toMatchObject({
      code: 1,
      err: expect.arrayContaining(['oncebox: The server sent more than the 3 bytes that it announced.']),
    })
    expect(existsSync(path('x'))).toBe(false)
  })

  test('a link that is not a web address is not followed', async () => {
    const url = fake(() => pushOf([{ filename: 'a', size: 1, url: 'file:///etc/passwd' }]))
    expect((await get(`${url}/p/abcdefgh`, '--output', folder)).code).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('an owner', () => {
  test('lists, audits and expires', async () => {
    const link = await push(signedIn({ input: 'x' }), '--name', 'to \u001b[31mBob')
    await get(link)
    const list = signedIn()
    expect(await list.run('list')).toBe(0)
    expect(list.out.join('\n')).toContain(`\tto ␛[31mBob\t4 views, 7 days\t${link}`)
    const audit = signedIn()
    expect(await audit.run('audit', link)).toBe(0)
    expect(audit.out).toHaveLength(3)
    expect(audit.out[2]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d\tview\t127\.0\.0\.1\t-\toncebox\/\d/)
    const expire = signedIn()
    expect(await expire.run('expire', link)).toBe(0)
    expect(expire.out[0]).toMatch(/^Expired on .*; nobody can open it any more\.$/)
    const again = signedIn()
    expect(await again.run('expire', link)).toBe(0)
    const expired = signedIn()
    expect(await expired.run('list', '--expired', '--json')).toBe(0)
    expect(JSON.parse(expired.out.join(''))[0]).toMatchObject({ html_url: link, deleted: true })
  })

  test('edits a name, a note and limits, and is told what is refused by the names of the flags', async () => {
    const link = await push(signedIn({ input: 'x' }), '--name', 'before', '--note', 'gone soon')
    const edit = signedIn()
    expect(await edit.run('edit', link, '--name', 'after', '--note', '', '--days', '2', '--views', '1')).toBe(
      0,
    )
    expect(edit.out[0]).toMatch(/^Changed\. It expires after 1 more view or on .*, whichever comes first\.$/)
    const longer = signedIn()
    expect(await longer.run('edit', link, '--duration', '7d', '--views', '2')).toBe(1)
    expect(longer.err.join('')).toMatch(
      /--duration would let the push live longer\. --views must be between 1 and 1\./,
    )
    const again = signedIn()
    expect(await again.run('edit', link, '--name', 'after', '--json')).toBe(0)
    expect(JSON.parse(again.out.join(''))).toMatchObject({ name: 'after', note: '', expire_after_days: 2 })
    const audit = signedIn()
    await audit.run('audit', link)
    expect(audit.out.filter((line) => /\sedit\s/.test(line))).toHaveLength(1)
    expect(await tryOut().run('edit', link, '--name', 'x')).toBe(4)
  })

  test('needs a login, and sees only their own pushes', async () => {
    const trial = tryOut()
    expect(await trial.run('list')).toBe(4)
    const other = await server.addAccount('bob@example.org')
    const link = await push(signedIn({ input: 'x' }))
    const stranger = tryOut({ env: { ONCEBOX_TOKEN: other } })
    expect(await stranger.run('audit', link)).toBe(4)
  })
})

describe('logins', () => {
  test('are stored privately, checked first, and chosen by name', async () => {
    const trial = createTrial({ home: folder, answers: [token] })
    expect(await trial.run('login', `${server.url}/`)).toBe(0)
    const file = path('.config/oncebox/client.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(path('.config/oncebox')).mode & 0o077).toBe(0)
    const second = createTrial({ home: folder })
    expect(await second.run('login', server.url, '--profile', 'anonymous', '--anonymous')).toBe(0)
    const list = createTrial({ home: folder })
    expect(await list.run('list')).toBe(0)
    const refused = createTrial({ home: folder })
    expect(await refused.run('list', '--profile', 'anonymous')).toBe(4)
    const logins = createTrial({ home: folder })
    await logins.run('logins')
    expect(logins.out.slice(1)).toEqual([
      `default    ${server.url}  ${token.slice(0, 8)}…`,
      `anonymous  ${server.url}  none`,
    ])
    const logout = createTrial({ home: folder })
    expect(await logout.run('logout')).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain(token)
    const unknown = createTrial({ home: folder })
    expect(await unknown.run('list', '--profile', 'home')).toBe(1)
  })

  test('an empty token does not replace a stored one by accident', async () => {
    await createTrial({ home: folder, answers: [token] }).run('login', server.url)
    const before = readFileSync(path('.config/oncebox/client.json'), 'utf8')
    const piped = createTrial({ home: folder, input: '\n' })
    expect(await piped.run('login', server.url, '--token-stdin')).toBe(1)
    expect(piped.err.join()).toContain('nothing was changed')
    const typed = createTrial({ home: folder, answers: ['', ''] })
    expect(await typed.run('login', server.url)).toBe(1)
    const both = createTrial({ home: folder, input: token })
    expect(await both.run('login', server.url, '--token-stdin', '--anonymous')).toBe(2)
    expect(readFileSync(path('.config/oncebox/client.json'), 'utf8')).toBe(before)
    const agreed = createTrial({ home: folder, answers: ['', 'y'] })
    expect(await agreed.run('login', server.url)).toBe(0)
    expect(readFileSync(path('.config/oncebox/client.json'), 'utf8')).not.toContain(token)
  })

  test('a token that is not accepted is not saved', async () => {
    const trial = createTrial({ home: folder, answers: ['obx_wrong'] })
    expect(await trial.run('login', server.url)).toBe(4)
    expect(readdirSync(folder)).toEqual([])
  })

  test('a damaged file of logins gets a message with the remedy', async () => {
    const trial = createTrial({ home: folder, answers: [token] })
    await trial.run('login', server.url)
    writeFileSync(path('.config/oncebox/client.json'), '{"profiles": [{"name": 1}]}')
    const list = createTrial({ home: folder })
    expect(await list.run('list')).toBe(1)
    expect(list.err[0]).toContain('is damaged: remove it')
  })

  test('a token is never sent to another server or to the target of a redirect', async () => {
    const seen: (string | null)[] = []
    const elsewhere = fake((request) => {
      seen.push(request.headers.get('authorization'))
      return pushOf([])
    })
    expect(await signedIn().run('get', `${elsewhere}/p/abcdefgh`)).toBe(0)
    const pointing = fake(() => Response.redirect(`${elsewhere}/api/v2/pushes/active`, 302))
    const redirected = signedIn({ env: { ONCEBOX_SERVER: pointing } })
    expect(await redirected.run('list')).toBe(1)
    expect(redirected.err[0]).toContain('log in to that server instead')
    expect(seen).toEqual([null])
  })
})

describe('other servers', () => {
  test('a busy server gets the time that it asks for', async () => {
    let tries = 0
    const url = fake(() => {
      tries += 1
      const headers = { 'retry-after': '1' }
      return tries < 2 ? Response.json({ error: 'busy' }, { status: 429, headers }) : pushOf([])
    })
    const received = await get(`${url}/p/abcdefgh`)
    expect(received).toMatchObject({ code: 0, out: 'secret' })
    expect(received.err[0]).toContain('asks to wait 1 s')
  })

  test('a server that stays busy is reported', async () => {
    const url = fake(() =>
      Response.json({ error: 'Too many.' }, { status: 429, headers: { 'retry-after': '3600' } }),
    )
    expect(await get(`${url}/p/abcdefgh`)).toMatchObject({ code: 5, err: ['oncebox: Too many.'] })
  })

  test('Password Pusher gets the passphrase in the query, and its lists of files work', async () => {
    const queries: string[] = []
    const url = fake((request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname.endsWith('/version'))
        return Response.json({ application_version: '1.68.0', api_version: '2.1' })
      if (pathname === '/f') return new Response('content')
      queries.push(search)
      if (search === '')
        return Response.json(
          { error: 'This push has a passphrase that was incorrect or not provided.' },
          { status: 401 },
        )
      return pushOf(JSON.stringify({ 'a.bin': `${url}/f` }))
    })
    const trial = tryOut({ answers: ['s & é'] })
    expect(await trial.run('get', `${url}/en/p/abcdefgh/r`, '--output', folder)).toBe(0)
    expect(queries).toEqual(['', '?passphrase=s%20%26%20%C3%A9'])
    expect(readFileSync(path('a.bin'), 'utf8')).toBe('content')
  })

  test.each<[string, () => Response, number, string]>([
    ['a page', () => new Response('<html>'), 1, 'does not seem to offer this API (HTTP 200)'],
    [
      'a broken proxy',
      () => new Response('Bad Gateway', { status: 502 }),
      5,
      'answers HTTP 502: try again later',
    ],
    ['a proxy that fails in JSON', () => Response.json({ message: 'x' }, { status: 502 }), 5, 'HTTP 502'],
    [
      'a proxy that fails in HTML',
      () => new Response('<h1>504</h1>', { status: 504 }),
      5,
      'answers HTTP 504: try again later',
    ],
    ['a response without a push', () => Response.json({ id: 1 }), 1, 'a push without url_token'],
    ['an error with colours', () => Response.json({ error: '\u001b[31mno' }, { status: 403 }), 4, '␛[31mno'],
  ])('%s', async (_, answer, code, said) => {
    const received = await get(`${fake(answer)}/p/abcdefgh`)
    expect(received.code).toBe(code)
    expect(received.err[0]).toContain(said)
  })

  test('a failing proxy ends version, list and push as unavailable', async () => {
    const answers = [() => new Response('<h1>', { status: 502 }), () => Response.json({}, { status: 503 })]
    for (const answer of answers) {
      const url = fake(answer)
      expect(await createTrial({ home: folder, answers: ['x'] }).run('login', url)).toBe(5)
      for (const argv of [
        ['list'],
        ['push'],
        ['expire', 'abcdefgh'],
        ['audit', 'abcdefgh'],
        ['get', 'abcdefgh'],
      ])
        expect(await signedIn({ input: 'x' }).run(...argv, '--server', url)).toBe(5)
    }
  })

  test('no server at all', async () => {
    const received = await get('http://127.0.0.1:1/p/abcdefgh')
    expect(received).toMatchObject({
      code: 5,
      err: ['oncebox: Cannot reach http://127.0.0.1:1: nothing listens there.'],
    })
  })
})

describe('wrong input is reported before any request', () => {
  test.each<[string[], string]>([
    [['get'], 'LINK-OR-TOKEN is missing'],
    [
      ['get', 'what is this'],
      'LINK-OR-TOKEN: must be a link such as https://once.example/p/7k3m9q…, or its token',
    ],
    [['push', 'x', 'y'], 'unexpected argument "y"'],
    [['push', 'x', '--kind', 'secret'], '--kind "secret": must be one of text, file, url, qr'],
    [['push', 'x', '--days', '0'], '--days "0": must be a whole number from 1 to 3650'],
    [['push', 'x', '--duration', '2h'], expect.stringContaining('--duration "2h": must be one of 15m, 30m')],
    [['push', 'x', '--views'], '--views: a value is missing, it must be a whole number from 1 to 1000000'],
    [
      ['push', '--file', '/no/such/file'],
      '--file "/no/such/file": cannot be read: there is no such file or folder',
    ],
    [['push', '--file', '/dev/null'], '--file "/dev/null": is not a regular file; pipe it in with --file -'],
    [['push', '--file', '-'], '--file -: add --name, which also names the file'],
    [['push', '-', '--file', '-', '--name', 'x'], '--file -: standard input can be read only once'],
    [['push', '--viws', '1'], 'unknown flag --viws: did you mean --views?'],
    [['edit', 'abcdefgh'], 'nothing to change: add --name, --note, --days, --views, --duration'],
    [['edit', 'abcdefgh', '--days', '0'], '--days "0": must be a whole number from 1 to 3650'],
    [['list', '--expird'], 'unknown flag --expird: did you mean --expired?'],
    [
      ['list', '--cacert', '/no/such/file'],
      '--cacert "/no/such/file": cannot be read: there is no such file or folder',
    ],
    [['list', '--cacert', '/dev/null'], '--cacert "/dev/null": must hold certificates in PEM or DER'],
    [['push', '--file', '/tmp'], '--file "/tmp": is a folder; pack it into one file first'],
    [['list', '--page', '201'], '--page "201": must be a whole number from 1 to 200'],
    [['list', '--server', 'ftp://nas'], expect.stringContaining('--server "ftp://nas": must be an http')],
    [['list', '--server', 'a b'], expect.stringContaining('--server "a b": must be an http')],
    [['login'], 'URL is missing'],
    [['completion', 'tcsh'], 'SHELL "tcsh": must be one of bash, zsh, fish, powershell'],
  ])('%p', async (argv, problem) => {
    const trial = tryOut()
    expect(await trial.run(...argv)).toBe(2)
    expect(trial.err[0]?.replace(/^oncebox: /, '')).toEqual(problem)
  })

  test('a blank text', async () => {
    const trial = tryOut({ input: ' \n' })
    expect(await trial.run('push')).toBe(1)
    expect(trial.err).toEqual(['oncebox: There is nothing to push: the text is blank.'])
  })

  test('the message for a text that is too large names the limit of a text', async () => {
    const trial = tryOut({ input: 'x'.repeat(12_000_000) })
    expect(await trial.run('push')).toBe(1)
    expect(trial.err[0]).toMatch(/a text 1048576 of them \(--max-payload-bytes of the server raises this\)/)
  })

  test('the message for a field that the server refuses names the flag', async () => {
    const trial = tryOut({ input: 'x' })
    expect(await trial.run('push', '--days', '200', '--views', '900')).toBe(1)
    expect(trial.err).toEqual([
      'oncebox: --days must be between 1 and 90. --views must be between 1 and 100.',
    ])
    const link = tryOut({ input: 'no link' })
    expect(await link.run('push', '--kind', 'url')).toBe(1)
    expect(link.err[0]).toStartWith('oncebox: The text ')
  })

  test('the message for an unreadable file names the flag, without error codes', async () => {
    const link = await push(tryOut({ input: 'x' }))
    for (const argv of [['push'], ['get', link]]) {
      const trial = tryOut({ input: 'x' })
      expect(await trial.run(...argv, '--passphrase-file', '/no/such/file', '--cacert', '/none')).toBe(2)
      expect(trial.err).toEqual([
        'oncebox: 2 problems',
        '  --passphrase-file "/no/such/file": cannot be read: there is no such file or folder',
        expect.stringContaining('--cacert "/none"'),
        `See "oncebox ${argv[0]} --help".`,
      ])
    }
  })
})

test('the QR code on the terminal contains the link', () => {
  const link = 'http://192.168.1.20:5100/p/7k3m9qx2vn4t8bw5hj6r0yzacd/r'
  const rows = drawQr(link)
    .split('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
    .map((line) => line.replace(/\u001b\[[\d;]*m/g, ''))
    .flatMap((line) => [
      [...line].map((block) => '█▀'.includes(block)),
      [...line].map((block) => '█▄'.includes(block)),
    ])
  const scale = 4
  const width = (rows[0]?.length ?? 0) * scale
  const height = rows.length * scale
  const data = new Uint8Array(width * height * 4).fill(255)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (rows[Math.floor(y / scale)]?.[Math.floor(x / scale)])
        data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  expect(decodeQr({ width, height, data })).toBe(link)
})

function fileAt(url: string, size: number) {
  return { filename: 'a.bin', size, url: `${url}/file` }
}

function pushOf(files: unknown): Response {
  const payload = Array.isArray(files) && files.length === 0 ? 'secret' : null
  return Response.json({ url_token: 'abcdefgh', payload, files, expired: false })
}

/** Sends these bytes and then closes the connection. */
function cutOff(bytes: Uint8Array): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes)
      await Bun.sleep(100)
      controller.error(new Error('cut'))
    },
  })
}
