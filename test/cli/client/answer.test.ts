// `oncebox answer`: against a whole Oncebox, and servers that lie about the key or lose responses.

import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { comparedFingerprintOf, fingerprintOf, type NewKey, newKey } from '../../../src/age/keys.ts'
import { fingerprintOfRecipient } from '../../../src/requests/recipient.ts'
import { findNeedles, readFolder, spellingsOf } from '../../support/needles.ts'
import { useClients } from './clients.ts'

const { path, tryOut, signedIn, fake, place } = useClients()

const TOKEN = 'q'.repeat(26)
let key: NewKey
let other: NewKey
beforeAll(async () => {
  key = await newKey()
  other = await newKey()
})

function write(name: string, content: string): string {
  writeFileSync(path(name), content)
  return path(name)
}

/** Resolves to the link that `oncebox request` prints. */
async function ask(...flags: string[]): Promise<string> {
  const trial = signedIn()
  if ((await trial.run('request', ...flags)) !== 0) throw new Error(trial.text())
  return trial.out[0] ?? ''
}

async function answer(link: string, input: string | undefined, ...argv: string[]) {
  const trial = tryOut(input === undefined ? {} : { input })
  const code = await trial.run('answer', link, ...argv)
  return { code, out: trial.out, err: trial.err.join('\n') }
}

async function receive(link: string, ...argv: string[]) {
  const trial = signedIn()
  const code = await trial.run('get', link, '--wait', ...argv)
  return { code, out: trial.out.join(''), err: trial.err.join('\n') }
}

const accept = () => Response.json({ received: true }, { status: 201 })

/** Serves a request, and sends the given responses to its answers one after another; then accepts all. */
function serve(request: object, ...responses: (() => Response)[]) {
  const sent: { path: string; key: string | null; authorization: string | null; body: string }[] = []
  const url = fake(async (received) => {
    if (received.method === 'GET')
      return Response.json({ accept: ['text', 'files'], message: '', recipient: null, ...request })
    const { headers } = received
    const [key, authorization] = [headers.get('idempotency-key'), headers.get('authorization')]
    sent.push({ path: new URL(received.url).pathname, key, authorization, body: await received.text() })
    return (responses.shift() ?? accept)()
  })
  return { link: `${url}/q/${TOKEN}`, sent }
}

describe('a request without a key', () => {
  test('gets a text from standard input, and shows what is asked for', async () => {
    const link = await ask('--text', '--message', 'The password\nof the router')
    const { code, out, err } = await answer(link, 'hunter2\n')
    expect([code, out]).toEqual([0, []])
    expect(err).toBe('> The password\n> of the router\nIt has arrived.')
    expect(await receive(link)).toMatchObject({ code: 0, out: 'hunter2' })
  })

  test('gets files and a text, and a file of another program', async () => {
    const link = await ask('--answers', '2')
    const files = ['--file', write('a.txt', 'first'), '--file', write('b.txt', 'second')]
    expect((await answer(link, undefined, 'with them', ...files)).code).toBe(0)
    mkdirSync(path('out'))
    expect(await receive(link, '--output', path('out'))).toMatchObject({ code: 0, out: 'with them' })
    expect(readFileSync(path('out/b.txt'), 'utf8')).toBe('second')
    expect((await answer(link, 'stream', '--file', '-', '--name', 'c.tar')).code).toBe(0)
    expect((await receive(link, '--output', path('out'))).code).toBe(0)
    expect(readFileSync(path('out/c.tar'), 'utf8')).toBe('stream')
  })

  test('refuses content that the request does not ask for, before it reads any', async () => {
    const text = await ask('--text')
    const file = write('a.txt', 'first')
    expect(await answer(text, undefined, '--file', file)).toMatchObject({
      code: 1,
      err: 'oncebox: This request asks for a text, not for files: leave out --file.',
    })
    const { code, err } = await answer(await ask('--files'), 'hunter2')
    expect([code, err]).toEqual([
      1,
      'oncebox: This request asks for files, not for a text: name them with --file.',
    ])
  })

  test('takes its link from standard input, and then asks for the text', async () => {
    const link = await ask('--text')
    const trial = tryOut({ input: `${link}\n`, answers: ['hunter2'] })
    expect(await trial.run('answer', '-')).toBe(0)
    expect(await receive(link)).toMatchObject({ out: 'hunter2' })
    const unasked = tryOut({ input: `${await ask('--text')}\n` })
    expect(await unasked.run('answer', '-')).toBe(1)
    expect(unasked.text()).toContain('pipe the text in')
  })

  test('prints the response of the server as JSON', async () => {
    const { code, out } = await answer(await ask(), 'x', '--json')
    expect([code, JSON.parse(out.join(''))]).toEqual([0, { received: true }])
  })

  test('that is used up, closed or unknown ends with exit code 3', async () => {
    const link = await ask()
    await answer(link, 'x')
    const { code, err } = await answer(link, 'y')
    expect([code, err]).toEqual([
      3,
      'oncebox: This request takes no more answers: it is used up, closed, or past its time.',
    ])
    const urlToken = new URL(await ask()).pathname.slice(3)
    const authorization = `Bearer ${place.token}`
    const own = `${place.server.url}/api/oncebox/requests/${urlToken}`
    await fetch(own, { method: 'DELETE', headers: { authorization } })
    expect((await answer(`${place.server.url}/q/${urlToken}`, 'x')).code).toBe(3)
    expect((await answer(`${place.server.url}/q/${TOKEN}`, 'x')).code).toBe(3)
  })

  test('gets its passphrase from a file or the terminal', async () => {
    const link = await ask('--answers', '2', '--passphrase-file', write('pass', 'über all'))
    expect((await answer(link, 'x', '--passphrase-file', write('wrong', 'nein'))).code).toBe(4)
    expect((await answer(link, 'x')).code).toBe(4)
    const file = write('a.txt', 'first')
    const answered = await answer(link, undefined, '--file', file, '--passphrase-file', path('pass'))
    expect(answered.code).toBe(0)
    const trial = tryOut({ input: 'x', answers: ['über all'] })
    expect(await trial.run('answer', link)).toBe(0)
    expect(trial.err).toContain('Passphrase of the request')
  })

  test('refuses the link of a push, and one standard input for two', async () => {
    const { code, err } = await answer(`${place.server.url}/p/${TOKEN}`, 'x')
    expect([code, err]).toEqual([
      1,
      'oncebox: This is the link of a push, not of a request: see "oncebox get".',
    ])
    expect((await answer('-', 'x', '-')).code).toBe(2)
    expect((await answer('-', 'x', '--file', '-', '--name', 'a')).code).toBe(2)
    expect((await answer(`${place.server.url}/q/${TOKEN}`, 'x', '--file', '-')).code).toBe(2)
  })
})

describe('a request with a key', () => {
  test('gets text and files that only the key decrypts', async () => {
    const link = await ask('--recipient', key.recipient, '--answers', '2')
    const { code, err } = await answer(link, 'a needle of a text')
    expect([code, err]).toEqual([
      0,
      'It is encrypted here, for the age key that the link names.\nIt has arrived.',
    ])
    const file = write('a needle of a name.txt', 'a needle of a file')
    expect((await answer(link, undefined, '--file', file)).code).toBe(0)
    const names = ['a needle of a text', 'a needle of a name', 'a needle of a file']
    const needles = names.flatMap((name) => spellingsOf(name).map((bytes) => ({ name, bytes })))
    expect(findNeedles(readFolder(place.server.dataDir), needles)).toEqual([])
    const listing = signedIn()
    await listing.run('list')
    expect(listing.out.join()).toContain('arrived encrypted')
    const identity = ['--identity', write('key.txt', key.identity)]
    expect(await receive(link, ...identity)).toMatchObject({ code: 0, out: 'a needle of a text' })
    mkdirSync(path('out'))
    expect((await receive(link, ...identity, '--output', path('out'))).code).toBe(0)
    expect(readFileSync(path('out/a needle of a name.txt'), 'utf8')).toBe('a needle of a file')
  })

  test('shows the fingerprint that the pages show, if the link has none', async () => {
    const [link = ''] = (await ask('--recipient', key.recipient)).split('#')
    const { code, err } = await answer(link, 'x')
    expect(code).toBe(0)
    expect(comparedFingerprintOf(key.recipient)).toBe(fingerprintOfRecipient(key.recipient))
    expect(err).toContain(`with the fingerprint ${fingerprintOfRecipient(key.recipient)}.`)
    expect(err).toContain('compare')
  })

  test('is sent nothing if the key or the link is a wrong one, or missing', async () => {
    const mark = fingerprintOf(key.recipient)
    const spelled = `${mark.slice(0, -1)}${mark.endsWith('A') ? 'B' : 'R'}`
    const cases: [recipient: unknown, fragment: string][] = [
      ...[other.recipient, null, undefined, ''].map((named): [unknown, string] => [named, mark]),
      ...[mark.slice(0, -1), `${mark}A`, spelled, other.linkKey].map((cut): [unknown, string] => [
        key.recipient,
        cut,
      ]),
      [key.recipient.toUpperCase(), mark],
    ]
    for (const [recipient, fragment] of cases) {
      const { link, sent } = serve({ recipient })
      const { code, err } = await answer(`${link}#${fragment}`, 'secret')
      expect([recipient, fragment, code, sent]).toEqual([recipient, fragment, 6, []])
      expect(err).toContain('Nothing was sent.')
    }
  })

  test('is sent nothing if the server names an invalid key', async () => {
    for (const [recipient, exitCode] of [
      ['age1nonsense', 6],
      ['', 6],
      [7, 1],
      [{}, 1],
    ]) {
      const { link, sent } = serve({ recipient })
      expect([recipient, (await answer(link, 'secret')).code, sent]).toEqual([recipient, exitCode, []])
    }
  })
})

describe('a server', () => {
  const lose = () => new Response('<h1>Bad gateway</h1>', { status: 502 })
  const wait = () => Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '1' } })

  test.each([
    ['loses the response', lose],
    ['is busy', wait],
  ])('that %s gets the same answer again, encrypted for the same key', async (_what, fail) => {
    const { link, sent } = serve({ recipient: key.recipient }, fail)
    expect((await answer(link, 'secret')).code).toBe(0)
    const [first, second, ...more] = sent
    expect([second, more]).toEqual([first, []])
    expect(first?.key?.length).toBeGreaterThan(21)
    expect(JSON.parse(first?.body ?? '').push).toMatchObject({ end_to_end: true })
    expect(first?.body).not.toContain('secret')
  })

  test('that loses every response leaves it open whether the answer has arrived', async () => {
    const { link, sent } = serve({}, lose, lose)
    const { code, err } = await answer(link, 'secret')
    expect([code, sent.length]).toEqual([5, 2])
    expect(err).toContain('The answer may have arrived anyway.')
  })

  test('that accepts nothing encrypted makes the command refer to its page', async () => {
    const end_to_end = ['is not offered by this server']
    const { link } = serve({ recipient: key.recipient }, () =>
      Response.json({ error: 'no', end_to_end }, { status: 422 }),
    )
    const { code, err } = await answer(link, 'text')
    expect(code).toBe(1)
    expect(err).toContain('takes no answer that is encrypted before it arrives. Its page does without')
  })

  test('of another link gets no token', async () => {
    const { link, sent } = serve({})
    const trial = signedIn({ input: 'secret' })
    expect(await trial.run('answer', link)).toBe(0)
    expect(sent).toMatchObject([{ path: `/api/oncebox/requests/${TOKEN}/answers`, authorization: null }])
  })

  test('cannot forge lines of the command by its message', async () => {
    const { link } = serve({ message: 'a\noncebox: all is well', asker: 'ann\nIt has arrived.' })
    const { err } = await answer(link, 'secret')
    expect(err).toStartWith('ann It has arrived. asks:\n> a\n> oncebox: all is well\n')
  })

  test('that is only for accounts asks for a login', async () => {
    const refuse = () => Response.json({ error: 'An API token is needed: …' }, { status: 401 })
    const { link } = serve({}, refuse)
    const { code, err } = await answer(link, 'secret')
    expect([code, err]).toEqual([
      4,
      `oncebox: This server needs "oncebox login ${new URL(link).origin}" for this command. Its page needs no login.`,
    ])
  })

  test('that answers with a page is refused', async () => {
    const url = fake(() => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }))
    const { code, err } = await answer(`${url}/q/${TOKEN}`, 'secret')
    expect(code).toBe(1)
    expect(err).toContain('does not seem to offer this API')
  })
})
