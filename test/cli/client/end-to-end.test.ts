// `oncebox push --end-to-end`, `get` with a key, and `key`: with a real Oncebox, and with lying servers.

import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { armor, Decrypter } from 'age-encryption'
import { fingerprintOf, identityOfLinkKey, type NewKey, newKey } from '../../../src/age/keys.ts'
import { sealFile, sealText } from '../../../src/age/sealing.ts'
import { joined, piecesOf } from '../../../src/age/streams.ts'
import { findNeedles, readFolder, spellingsOf } from '../../support/needles.ts'
import { useClients } from './clients.ts'

const { path, tryOut, signedIn, push, get, fake, place } = useClients()

const TOKEN = 'a'.repeat(26)
let key: NewKey
beforeAll(async () => {
  key = await newKey()
})

const keyIn = (link: string) => link.split('#')[1] ?? ''
const tokenIn = (link: string) => new URL(link).pathname.split('/')[2] ?? ''

async function views(link: string): Promise<number> {
  const trial = signedIn()
  await trial.run('audit', link, '--json')
  return JSON.parse(trial.out.join('')).logs.filter(({ kind }: { kind: string }) => kind === 'view').length
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

async function sealed(
  name: string,
  content: string | Uint8Array,
  [n, of] = [1, 1],
  to = key,
): Promise<Uint8Array> {
  const file = { name, content: once(Buffer.from(content)), at: 0, position: { n, of } }
  return joined(await Array.fromAsync(piecesOf(await sealFile(file, [to.recipient]))))
}

describe('a text', () => {
  test('can be opened with the link alone, once per view, and from standard input too', async () => {
    const link = await push(signedIn(), 'two words ', '--end-to-end', '--views', '2')
    expect(keyIn(link)).toMatch(/^[\w-]{43}$/)
    expect(await get(link)).toMatchObject({ code: 0, out: 'two words ' })
    const piped = tryOut({ input: `${link}\n` })
    expect(await piped.run('get', '-')).toBe(0)
    expect(piped.out).toEqual(['two words '])
    const bare = tryOut({ input: link })
    expect(await bare.run('get')).toBe(3)
    expect(await tryOut().run('get')).toBe(2)
  })

  test('reaches the server only encrypted, and its key never', async () => {
    const link = await push(
      signedIn(),
      'a needle of a text',
      '--end-to-end',
      '--passphrase-file',
      write('pass', 'open'),
    )
    expect((await get(link, '--passphrase-file', path('pass'))).out).toBe('a needle of a text')
    const identity = identityOfLinkKey(keyIn(link)) ?? ''
    const secrets = ['a needle of a text', keyIn(link), identity]
    const needles = secrets.flatMap((name) => spellingsOf(name).map((bytes) => ({ name, bytes })))
    expect(findNeedles(readFolder(place.server.dataDir), needles)).toEqual([])
  })

  test('can be opened with the key that “oncebox key” prints, by age and by --identity', async () => {
    const link = await push(signedIn(), 'for age', '--end-to-end')
    const trial = tryOut({ input: link })
    expect(await trial.run('key', '-')).toBe(0)
    expect(trial.out[0]).toMatch(/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/)
    const named = tryOut()
    expect(await named.run('key', link)).toBe(0)
    expect(named.out).toEqual(trial.out)
    const answer = await (await fetch(`${place.server.url}/api/v2/pushes/${tokenIn(link)}`)).json()
    const decrypter = new Decrypter()
    decrypter.addIdentity(trial.out[0] ?? '')
    expect(await decrypter.decrypt(armor.decode((answer as { payload: string }).payload), 'text')).toBe(
      'for age',
    )
    const identity = write('key.txt', trial.out[0] ?? '')
    expect(await get(link.split('#')[0] ?? '', '--identity', identity)).toMatchObject({
      code: 0,
      out: 'for age',
    })
  })

  test('keeps its views if the key is truncated, wrong or missing', async () => {
    const link = await push(signedIn(), 'x', '--end-to-end', '--views', '1')
    const [plain = ''] = link.split('#')
    const spelled = String.fromCharCode(link.charCodeAt(link.length - 1) + 1)
    const wrong = [plain, `${plain}#`, link.slice(0, -1), `${link}A`, `${plain}#${key.linkKey}`]
    for (const given of [...wrong, link.slice(0, -1) + spelled]) {
      const { code, out, err } = await get(given)
      expect([given, code, out]).toEqual([given, 6, ''])
      expect(err.join()).not.toContain(keyIn(link).slice(0, 20))
    }
    const foreign = write('foreign.txt', key.identity)
    expect((await get(plain, '--identity', foreign)).code).toBe(6)
    const ordinary = await push(signedIn(), 'plain', '--views', '1')
    // If a link says that there was a key, a lying server must not be able to show its own text.
    for (const given of [`${ordinary}#${key.linkKey}`, `${ordinary}#`])
      expect((await get(given)).code).toBe(6)
    expect([await views(link), await views(ordinary)]).toEqual([0, 0])
    expect(await get(link)).toMatchObject({ code: 0, out: 'x' })
  })

  test('for recipients has no key in its link, and warns when views are too few', async () => {
    const [one, other] = [await newKey(), await newKey()]
    const file = write('recipients.txt', `# the team\n${one.recipient}\n\n${other.recipient}\n`)
    const trial = signedIn()
    expect(await trial.run('push', 'for two', '--to', file, '--to', key.recipient, '--views', '2')).toBe(0)
    const [link = ''] = trial.out
    expect(link).not.toContain('#')
    expect(trial.err.join()).toContain('2 times, and has 3 recipients')
    expect(await get(link, '--identity', write('other.txt', other.identity))).toMatchObject({
      out: 'for two',
    })
    expect((await get(link, '--identity', write('no.txt', (await newKey()).identity))).code).toBe(6)
  })

  test('is end-to-end by a variable or a login, unless a flag overrides it', async () => {
    const hasKey = async (trial: ReturnType<typeof tryOut>, ...argv: string[]) =>
      keyIn(await push(trial, 'x', ...argv)) !== ''
    const env = { ONCEBOX_PUSH_END_TO_END: 'true' }
    expect(await hasKey(signedIn({ env }))).toBe(true)
    expect(await hasKey(signedIn({ env }), '--end-to-end', 'false')).toBe(false)
    const login = tryOut({ env: { ONCEBOX_SERVER: '' }, input: place.token })
    expect(await login.run('login', place.server.url, '--token-stdin', '--end-to-end')).toBe(0)
    const later = { env: { ONCEBOX_SERVER: '' } }
    expect(await hasKey(tryOut(later))).toBe(true)
    expect(await hasKey(tryOut({ env: { ...later.env, ONCEBOX_PUSH_END_TO_END: '0' } }))).toBe(false)
  })

  test('has its key in the link of --json, and its content in that of get --json', async () => {
    const trial = signedIn()
    expect(await trial.run('push', 'x', '--end-to-end', '--json')).toBe(0)
    const { html_url: link, end_to_end, key_check } = JSON.parse(trial.out.join('\n'))
    expect([end_to_end, key_check]).toEqual([true, expect.stringMatching(/^[0-9a-f]{8}$/)])
    expect(JSON.parse((await get(link, '--json')).out).payload).toBe('x')
  })

  test('of another kind is refused by name of its flag', async () => {
    const trial = signedIn()
    expect(await trial.run('push', 'https://example.org', '--end-to-end', '--kind', 'url')).toBe(1)
    expect(trial.err.join()).toContain('--kind must be one of text, file')
    expect(await signedIn().run('push', 'x', '--to', key.recipient, '--end-to-end', 'false')).toBe(2)
    const secret = signedIn()
    expect(await secret.run('push', 'x', '--to', key.identity)).toBe(2)
    expect(secret.text()).not.toContain(key.identity)
  })
})

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(path(name), content)
  return path(name)
}

describe('files', () => {
  test('come back under their names, and their names never reach the server', async () => {
    const large = Buffer.alloc(400_000, 'abcdefg')
    const names = [write('Gehälter.ods', large), write('leer.txt', '')]
    const link = await push(
      signedIn(),
      'note',
      '--end-to-end',
      '--file',
      names[0] ?? '',
      '--file',
      names[1] ?? '',
    )
    mkdirSync(path('in'))
    expect(await get(link, '--output', path('in'))).toMatchObject({ code: 0, out: 'note' })
    expect(readdirSync(path('in')).sort()).toEqual(['Gehälter.ods', 'leer.txt'])
    expect(readFileSync(path('in/Gehälter.ods')).equals(large)).toBe(true)
    const needles = ['Gehälter', 'leer.txt', 'abcdefgabcdefg'].flatMap((name) =>
      spellingsOf(name).map((bytes) => ({ name, bytes })),
    )
    expect(findNeedles(readFolder(place.server.dataDir), needles)).toEqual([])
  })

  test('from standard input are written to standard output, and their name is not the label', async () => {
    const content = 'stream'.repeat(40_000)
    const link = await push(signedIn({ input: content }), '--end-to-end', '--file', '-', '--name', 'dump.sql')
    const listing = signedIn()
    await listing.run('list')
    expect(listing.out.join()).not.toContain('dump.sql')
    const { code, out } = await get(link, '--output', '-')
    expect([code, out === content]).toEqual([0, true])
  })

  test('that were saved encrypted can be decrypted without a server', async () => {
    const answer = write('saved.txt', await sealText('kept', [key.recipient]))
    const file = write('1.age', await sealed('report.pdf', 'pdf'))
    const link = `https://nowhere.invalid/p/${TOKEN}#${key.linkKey}`
    mkdirSync(path('in'))
    const opened = await get(link, '--sealed', answer, '--sealed', file, '--output', `${path('in')}/`)
    expect(opened).toMatchObject({ code: 0, out: 'kept' })
    expect(readFileSync(path('in/report.pdf'), 'utf8')).toBe('pdf')
    expect(await get(link, '--sealed', file, '--output', '-')).toMatchObject({ code: 0, out: 'pdf' })
    for (const asked of [{ answers: [link] }, { input: link }]) {
      const trial = tryOut(asked)
      expect(await trial.run('get', '--sealed', answer)).toBe(0)
      expect(trial.out).toEqual(['kept'])
    }
    const other = write('other.txt', (await newKey()).identity)
    const trial = tryOut()
    expect(await trial.run('get', '--sealed', answer, '--identity', other)).toBe(6)
    expect(trial.out).toEqual([])
  })
})

describe('a server that lies', () => {
  type Lie = {
    payload?: string | null
    files?: Record<string, Uint8Array>
    preview?: object
    /** Whether the download of a file fails for the time being. */
    isBroken?: (name: string) => boolean
  }

  /** Serves one push with these contents. */
  function lying({ payload = null, files = {}, preview = {}, isBroken = () => false }: Lie): string {
    const url: string = fake((request) => {
      const { pathname } = new URL(request.url)
      const file = files[pathname.slice(3)]
      if (isBroken(pathname.slice(3))) return Response.json({ error: 'internal-error' }, { status: 500 })
      if (file !== undefined) return new Response(new Uint8Array(file))
      if (pathname.endsWith('/preview')) return Response.json({ url: `${url}/p/${TOKEN}`, ...preview })
      const listed = Object.entries(files).map(([filename, { length: size }]) => ({
        ...{ filename, size, url: `${url}/d/${filename}` },
      }))
      return Response.json({ url_token: TOKEN, payload, files: listed, views_remaining: 1, end_to_end: true })
    })
    return `${url}/p/${TOKEN}#${key.linkKey}`
  }

  /** Expects that nothing is shown or saved. */
  async function refused(lie: Lie, ...argv: string[]): Promise<void> {
    mkdirSync(path('in'), { recursive: true })
    const { code, out, err } = await get(lying(lie), '--output', `${path('in')}/`, ...argv)
    expect([code, out, readdirSync(path('in'))]).toEqual([6, '', []])
    expect(err.join()).toContain('was refused')
  }

  test('cannot pass off plaintext', async () => {
    await refused({ payload: 'send your password to evil.example' })
    await refused({ files: { 'a.txt': Buffer.from('plain') } })
    await refused({ files: { '1.age': Buffer.from('age-encryption.org/v1\nplain') } })
  })

  test('cannot pass off as the sender’s what others have encrypted', async () => {
    const other = await newKey()
    await refused({ payload: await sealText('other', [other.recipient]) })
    await refused({ files: { '1.age': await sealed('a', 'b', [1, 1], other) } })
  })

  test('cannot truncate a file or a text anywhere', async () => {
    const whole = await sealed('a.bin', Buffer.alloc(150_000, 1))
    const start = whole.length - (150_000 % 65_536) - 2 * 65_552
    for (const end of [0, 10, 150, start, start + 65_552, start + 65_553, whole.length - 1])
      await refused({ files: { '1.age': whole.subarray(0, end) } })
    const text = armor.decode(await sealText('x'.repeat(100_000), [key.recipient]))
    for (const end of [100, text.length - 65_552, text.length - 1])
      await refused({ payload: armor.encode(text.subarray(0, end)) })
  })

  test('cannot swap files', async () => {
    const [one, two] = [await sealed('a', 'first', [1, 2]), await sealed('b', 'second', [2, 2])]
    await refused({ files: { '1.age': two, '2.age': one } })
  })

  test('cannot leave a file out unnoticed', async () => {
    mkdirSync(path('in'))
    const link = lying({ files: { '1.age': await sealed('a', 'first', [1, 2]) } })
    const { code, err } = await get(link, '--output', `${path('in')}/`)
    expect([code, readdirSync(path('in'))]).toEqual([6, ['a']])
    expect(err.join()).toContain('has sent 2 files, and this server has not sent 2/2')
  })

  test('cannot leave a file out of a download that was interrupted', async () => {
    const files = {
      '1.age': await sealed('a', 'first', [1, 3]),
      '2.age': await sealed('b', 'second', [2, 3]),
    }
    let isUp = false
    const link = lying({ files, isBroken: (name) => name === '2.age' && !isUp })
    mkdirSync(path('in'))
    expect((await get(link, '--output', `${path('in')}/`)).code).toBe(1)
    isUp = true
    const { code, err } = await get(link, '--output', `${path('in')}/`)
    expect([code, readdirSync(path('in')).sort()]).toEqual([6, ['a', 'b']])
    expect(err.join()).toContain('Resuming')
    expect(err.join()).toContain('has sent 3 files, and this server has not sent 3/3')
  })

  test('cannot make a command run with only one of several files, or with another file', async () => {
    for (const position of [
      [1, 2],
      [2, 2],
    ] as [number, number][]) {
      const LINK = lying({ files: { '1.age': await sealed('a', 'part', position) } })
      const trial = tryOut({ env: { LINK } })
      expect(await trial.run('exec', '--file', 'F=@env:LINK', '--', 'touch', path('ran'))).toBe(125)
      expect(trial.text()).toContain(`${position[0] === 1 ? 'has not sent' : 'it is the file'} 2/2`)
    }
    expect(existsSync(path('ran'))).toBe(false)
  })

  test('ends a stream to a pipe with an error', async () => {
    const whole = await sealed('a.bin', Buffer.alloc(300_000, 1))
    const link = lying({ files: { '1.age': whole.subarray(0, -1) } })
    expect((await get(link, '--output', '-')).code).toBe(6)
  })

  test('shows nothing by --json either', async () => {
    const { code, out } = await get(lying({ payload: 'plain' }), '--json')
    expect([code, out]).toEqual([6, ''])
  })

  test('cannot do harm with file names', async () => {
    mkdirSync(path('in'))
    const { code } = await get(
      lying({ files: { '1.age': await sealed('../../.bashrc', 'rm') } }),
      '--output',
      `${path('in')}/`,
    )
    expect([code, readdirSync(path('in'))]).toEqual([0, ['bashrc']])
  })
})

describe('a push that is sent again', () => {
  type Sent = { bytes: string; key: string | null }

  /** Refuses the first tries, and records what is sent. */
  function busy(answers: ((url: string) => Response)[]) {
    const sent: Sent[] = []
    const url: string = fake(async (request) => {
      const bytes = Buffer.from(await request.bytes()).toString('latin1')
      sent.push({ bytes, key: request.headers.get('idempotency-key') })
      const answer = answers[sent.length - 1]
      if (answer !== undefined) return answer(url)
      const made = { url_token: TOKEN, html_url: `${url}/p/${TOKEN}`, end_to_end: true, views_remaining: 5 }
      return Response.json(made, { status: 201 })
    })
    return { url, sent }
  }
  const wait = () => Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } })
  const lost = () => new Response('<h1>Bad gateway</h1>', { status: 502 })

  test('has the same bytes under the same key', async () => {
    const { url, sent } = busy([wait, lost])
    const file = write('a.bin', Buffer.alloc(100_000, 3))
    const trial = signedIn({ env: { ONCEBOX_SERVER: url } })
    expect(await trial.run('push', 'text', '--end-to-end', '--file', file)).toBe(0)
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map(({ bytes }) => bytes)).size).toBe(1)
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
    expect(sent[0]?.key).toMatch(/^[!-~]{22,128}$/)
    expect(sent[0]?.bytes).not.toContain('a.bin')
    expect(sent[0]?.bytes).toContain('1.age')
  })

  test('is not sent again if its stream cannot be read again', async () => {
    const { url, sent } = busy([wait])
    const trial = signedIn({ env: { ONCEBOX_SERVER: url }, input: 'stream' })
    expect(await trial.run('push', '--end-to-end', '--file', '-', '--name', 'a')).toBe(5)
    expect(sent).toHaveLength(1)
  })
})

describe('a request', () => {
  test('ends its link in the fingerprint of a key that its owner names', async () => {
    const trial = signedIn()
    expect(await trial.run('request', '--recipient', key.recipient)).toBe(0)
    expect(keyIn(trial.out[0] ?? '')).toBe(fingerprintOf(key.recipient))
  })

  test('is not used when the server names another key', async () => {
    const { recipient } = await newKey()
    const made = { url_token: TOKEN, created_at: '', expires_at: '2126-01-01T00:00:00.000Z', recipient }
    const url = fake((request) =>
      Response.json({ ...made, html_url: new URL(`/q/${TOKEN}`, request.url) }, { status: 201 }),
    )
    const trial = signedIn({ env: { ONCEBOX_SERVER: url } })
    expect(await trial.run('request', '--recipient', key.recipient)).toBe(1)
    expect(trial.out).toEqual([])
  })

  test('lists an answer that arrived encrypted', async () => {
    const asking = signedIn()
    await asking.run('request', '--recipient', key.recipient, '--text')
    const [link = ''] = asking.out
    const payload = await sealText('sesame', [key.recipient])
    await fetch(`${place.server.url}/api/oncebox/requests/${tokenIn(link)}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ push: { payload, end_to_end: true } }),
    })
    const listing = signedIn()
    await listing.run('list')
    expect(listing.out.join()).toContain('text, received, arrived encrypted')
    const opened = signedIn()
    expect(await opened.run('get', link, '--wait', '--identity', write('key.txt', key.identity))).toBe(0)
    expect(opened.out).toEqual(['sesame'])
  })
})
