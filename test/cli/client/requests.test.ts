// `oncebox request`, `requests`, and `get` of a request, against a fake server that supports requests.

import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { makeZip } from 'client-zip'
import { useClients } from './clients.ts'

const { path, tryOut, signedIn, fake, place } = useClients()

const TOKEN = 'q'.repeat(26)
const ANSWER = 'a'.repeat(26)

const REQUEST = {
  ...{ url_token: TOKEN, accept: ['text', 'files'], name: 'Wi-Fi', message: '', recipient: null },
  ...{ created_at: '2026-11-20T10:00:00.000Z', expires_at: '2126-11-27T10:00:00.000Z' },
  ...{ max_answers: 2, answers: 0, passphrase_required: false, closed: false },
}

type Given = {
  request?: object
  /** The answers in the list, newest first. */
  pushes?: object[]
  /** Additional members of the answer when it is retrieved. */
  answer?: object
  files?: Record<string, Uint8Array>
  /** Called each time the client fetches the request. */
  onLook?: (looks: number) => object
}

/** The received HTTP requests as `METHOD /path` with body. */
function serve({ request = {}, pushes = [], answer = {}, files = {}, onLook }: Given) {
  const asked: string[] = []
  let looks = 0
  const url: string = fake(async (sent) => {
    const { pathname } = new URL(sent.url)
    const names = Object.keys(files)
    const listed = names.map((filename) => ({ filename, url: `${url}/d/${filename}` }))
    const made = { ...REQUEST, html_url: `${url}/q/${TOKEN}`, ...request }
    asked.push(`${sent.method} ${pathname} ${await sent.text()}`.trim())
    if (pathname === '/api/oncebox/requests')
      return Response.json(sent.method === 'POST' ? made : [made], {
        status: sent.method === 'POST' ? 201 : 200,
      })
    if (pathname.startsWith('/api/oncebox/requests/')) {
      looks += 1
      return Response.json({ ...made, ...onLook?.(looks) })
    }
    if (pathname === '/api/v2/pushes/active') return Response.json(pushes)
    if (pathname === `/api/v2/pushes/${ANSWER}`)
      return Response.json({
        url_token: ANSWER,
        views_remaining: 4,
        payload: 'sesame',
        files: listed,
        ...answer,
      })
    const file = files[pathname.slice(3)]
    return file === undefined
      ? Response.json({ error: 'not-found' }, { status: 404 })
      : new Response(Buffer.from(file))
  })
  const trial = signedIn({ env: { ONCEBOX_SERVER: url } })
  return { trial, asked, url }
}

const arrived = {
  ...{ url_token: ANSWER, request: TOKEN, received: true, created_at: '2026-11-20T11:00:00.000Z' },
  ...{ expire_after_views: 5, views_remaining: 5 },
}

describe('request', () => {
  test('prints the link, and sends only what was given', async () => {
    const { trial, asked, url } = serve({})
    const flags = ['--text', '--message', 'The Wi-Fi password', '--days', '2', '--answers=2']
    expect(await trial.run('request', ...flags)).toBe(0)
    expect(trial.out).toEqual([`${url}/q/${TOKEN}`])
    expect(trial.err).toContain(`To receive what arrives: oncebox get ${TOKEN} --wait`)
    const [line = ''] = asked
    expect(JSON.parse(line.slice(line.indexOf('{')))).toEqual({
      request: { message: 'The Wi-Fi password', max_answers: 2, expire_after_days: 2, accept: ['text'] },
    })
  })

  test('warns that only the age key decrypts the answers', async () => {
    const recipient = await identityToRecipient(await generateX25519Identity())
    const { trial } = serve({ request: { recipient } })
    expect(await trial.run('request', '--recipient', recipient)).toBe(0)
    expect(trial.err).toContain(`To receive what arrives: oncebox get ${TOKEN} --wait --identity FILE`)
    expect(trial.err.join()).toContain(`Only the secret key of ${recipient} decrypts`)
  })

  test.each([
    [['--recipient', 'age1nothing'], 'must be a public key of age'],
    [['--answers', '0'], '--answers'],
    [['--message', ''], "can't be blank"],
  ])('refuses %p', async (flags, problem) => {
    const { trial, asked } = serve({})
    expect(await trial.run('request', ...flags)).toBe(2)
    expect(trial.text()).toContain(problem)
    expect(asked).toEqual([])
  })

  test('needs a login, and a server that supports requests', async () => {
    const stranger = tryOut()
    expect(await stranger.run('request')).toBe(4)
    const url = fake(() => Response.json({ error: 'not-found' }, { status: 404 }))
    const trial = signedIn({ env: { ONCEBOX_SERVER: url } })
    expect(await trial.run('request')).toBe(1)
    expect(trial.text()).toContain('offers neither requests')
  })
})

describe('requests', () => {
  test('lists the requests', async () => {
    const { trial } = serve({ request: { answers: 1 } })
    expect(await trial.run('requests')).toBe(0)
    expect(trial.out[1]).toContain(`\ttext, files\tWi-Fi\t1 of 2\t2126-11-27`)
  })

  test('shows closed requests as closed', async () => {
    const { trial } = serve({ request: { answers: 2, closed: true } })
    expect(await trial.run('requests')).toBe(0)
    expect(trial.out[1]).toContain('\t2 of 2\tclosed\t')
  })

  test.each(['expire', 'edit --days 1', 'audit'])('are refused by %s', async (command) => {
    const [name = '', ...flags] = command.split(' ')
    const trial = signedIn()
    expect(await trial.run(name, `https://once.example/q/${TOKEN}`, ...flags)).toBe(1)
    expect(trial.text()).toContain('This is the link of a request')
  })
})

describe('get of a request', () => {
  test('receives the oldest unopened answer', async () => {
    const opened = { ...arrived, url_token: 'b'.repeat(26), views_remaining: 4 }
    const newer = { ...arrived, url_token: 'c'.repeat(26) }
    const other = { ...arrived, url_token: 'd'.repeat(26), request: null }
    const { trial, url } = serve({ request: { answers: 2 }, pushes: [newer, arrived, opened, other] })
    expect(await trial.run('get', `${url}/q/${TOKEN}`)).toBe(0)
    expect(trial.out).toEqual(['sesame'])
  })

  test('waits until something has arrived', async () => {
    const onLook = (looks: number) => ({ answers: looks > 1 ? 1 : 0 })
    const { trial } = serve({ pushes: [arrived], onLook })
    expect(await trial.run('get', TOKEN, '--wait')).toBe(0)
    expect(trial.out).toEqual(['sesame'])
    expect(trial.err[0]).toStartWith('Waiting for something to arrive until 2126-11-27')
  })

  test.each([
    ['not asked to wait', [], {}, 'add --wait'],
    ['the request takes no more', ['--wait'], { answers: 2, closed: true }, 'takes no more answers'],
  ])('ends without an answer: %s', async (_, flags, request, problem) => {
    const { trial, url } = serve({ request })
    expect(await trial.run('get', `${url}/q/${TOKEN}`, ...flags)).toBe(3)
    expect(trial.text()).toContain(problem)
  })

  test('needs a login', async () => {
    expect(await tryOut().run('get', TOKEN, '--wait')).toBe(4)
  })
})

describe('with a whole Oncebox', () => {
  async function answer(link: string, push: object): Promise<void> {
    const urlToken = new URL(link).pathname.split('/').at(-1)
    const response = await fetch(`${place.server.url}/api/oncebox/requests/${urlToken}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ push }),
    })
    expect(await response.json()).toEqual({ received: true })
  }

  test('receives an answer once, decrypts it with the key, and marks it in the list', async () => {
    const identity = await generateX25519Identity()
    writeFileSync(path('key.txt'), identity)
    mkdirSync(path('out'))
    const asking = signedIn()
    const flags = ['--recipient', await identityToRecipient(identity), '--answers', '2', '--name', 'Contract']
    expect(await asking.run('request', ...flags)).toBe(0)
    const [link = ''] = asking.out
    const files = [{ filename: 'a.txt', data: btoa('content') }]
    await answer(link, { payload: 'first', files })
    const get = async (...more: string[]) => {
      const trial = signedIn()
      const code = await trial.run('get', link, '--identity', path('key.txt'), ...more)
      return { code, out: trial.out.join(''), err: trial.err.join() }
    }
    expect(await get('--output', path('out'))).toMatchObject({ code: 0, out: 'first' })
    expect(readFileSync(path('out/a.txt'), 'utf8')).toBe('content')
    expect(await get()).toMatchObject({ code: 3, err: expect.stringContaining('add --wait') })
    await answer(link, { payload: 'second' })
    expect(await get('--wait')).toMatchObject({ code: 0, out: 'second' })
    expect(await get('--wait')).toMatchObject({ code: 3, err: expect.stringContaining('no more answers') })
    const listing = signedIn()
    expect(await listing.run('list')).toBe(0)
    expect(listing.out.join()).toContain('\tfile, received\tContract\t')
  })
})

describe('an age key', () => {
  async function seal(recipient: string, content: Uint8Array | string): Promise<Uint8Array> {
    const encrypter = new Encrypter()
    encrypter.addRecipient(recipient)
    return encrypter.encrypt(content)
  }

  /** Encrypts a file as the server does. */
  async function sealFile(recipient: string, name: string, content: Uint8Array): Promise<Uint8Array> {
    const zip = makeZip([{ name, size: content.length, input: content }])
    return seal(recipient, new Uint8Array(await new Response(zip).arrayBuffer()))
  }

  async function newKey() {
    const identity = await generateX25519Identity()
    writeFileSync(path('key.txt'), `# created today\n${identity}\n`)
    mkdirSync(path('out'), { recursive: true })
    return identityToRecipient(identity)
  }

  const receive = (trial: ReturnType<typeof signedIn>) =>
    trial.run('get', TOKEN, '--wait', '--identity', path('key.txt'), '--output', path('out'))

  test('decrypts a text, and files of any size under safe names', async () => {
    const recipient = await newKey()
    const large = Buffer.alloc(3_000_001, 'large')
    const sent = { '1.age': ['../../.profile', Buffer.from('rm')], '2.age': ['Fußnoten.pdf', large] } as const
    const files: Record<string, Uint8Array> = {}
    for (const [name, [inner, content]] of Object.entries(sent))
      files[name] = await sealFile(recipient, inner, content)
    const given: Given = { request: { recipient, answers: 1 }, pushes: [arrived], files }
    const payload = armor.encode(await seal(recipient, 'sesame'))
    const { trial } = serve({ ...given, answer: { payload } })
    expect(await receive(trial)).toBe(0)
    expect(trial.out).toEqual(['sesame'])
    expect(readdirSync(path('out')).sort()).toEqual(['Fußnoten.pdf', 'profile'])
    expect(readFileSync(path('out/Fußnoten.pdf')).equals(large)).toBe(true)
    expect(readFileSync(path('out/profile'), 'utf8')).toBe('rm')
    expect(trial.text()).toContain('The sender named it "../../.profile"')
  })

  test('that does not fit shows and saves nothing', async () => {
    await newKey()
    const other = await identityToRecipient(await generateX25519Identity())
    const payload = armor.encode(await seal(other, 'sesame'))
    const files = { '1.age': await sealFile(other, 'a', Buffer.from('a')), '2.age': Buffer.from('no age') }
    const get = ['get', ANSWER, '--identity', path('key.txt'), '--output', path('out')]
    for (const answer of [{ payload }, { payload: null }, { payload: 'plaintext', files: [] }]) {
      const { trial } = serve({ files, answer })
      expect(await trial.run(...get)).toBe(6)
      expect(trial.out).toEqual([])
      expect(readdirSync(path('out'))).toEqual([])
      expect(trial.text()).toContain('was refused')
    }
  })

  test('that is missing is mentioned in a hint', async () => {
    const recipient = await newKey()
    const { trial } = serve({ answer: { payload: armor.encode(await seal(recipient, 'sesame')) } })
    expect(await trial.run('get', ANSWER)).toBe(0)
    expect(trial.text()).toContain('--identity FILE')
  })

  test('is read before the server is asked', async () => {
    writeFileSync(path('key.txt'), 'no key')
    const { trial, asked } = serve({})
    expect(await trial.run('get', ANSWER, '--identity', path('key.txt'))).toBe(1)
    expect(trial.text()).toContain('holds no secret key of age')
    expect(asked).toEqual([])
  })
})
