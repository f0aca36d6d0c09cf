// The pages of requests: an account asks for a secret, and a person with the link of the request sends one.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type Api, type PushBody, startApi } from '../support/api.ts'
import { elementsIn, textsIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

let api: Api
let people: People
let serial = 0
beforeAll(async () => {
  api = await startApi()
  people = createPeople(api)
})
afterAll(() => api.close())

type Owner = Person & { token: string; email: string }

async function newOwner(): Promise<Owner> {
  serial += 1
  const email = `asker${serial}@example.org`
  const token = await api.addAccount(email)
  return { ...(await people.signIn(email)), token, email }
}

/** Resolves to the page that the form redirects to, and the token of its request. */
async function ask(owner: Owner, fields: Record<string, string> = {}) {
  const { status, headers } = await owner.post('/requests', { message: 'The password', ...fields })
  expect(status).toBe(303)
  const page = headers.get('location') ?? ''
  const { text } = await owner.get(page)
  return { page, text, urlToken: page.split('/').at(-1) ?? '' }
}

const newKey = async () => identityToRecipient(await generateX25519Identity())

describe('asking for a secret', () => {
  test('is beside sharing in the navigation, for accounts only', async () => {
    const owner = await newOwner()
    const linksOf = (text: string) =>
      elementsIn(text, 'header nav ul.on-wide a').map((link) => link.text.trim())
    const { text } = await owner.get('/')
    expect(linksOf(text)).toEqual(['Share', 'Ask', 'Shared'])
    expect(elementsIn(text, 'header .sheet a[href="/requests"]')).toHaveLength(1)
    expect(linksOf((await people.get('/')).text)).toEqual(['Share', 'Sign in'])
    const { status, headers } = await people.get('/requests')
    expect([status, headers.get('location')]).toEqual([303, '/sign-in?next=%2Frequests'])
  })

  test('leads to the page of the new request, with its link as text and QR code', async () => {
    const owner = await newOwner()
    const { text, urlToken } = await ask(owner, { name: 'Router', max_answers: '3', accept: 'text' })
    expect(urlToken).toMatch(/^[0-9a-z]{26}$/)
    expect(text).toContain(`<code>http://localhost/q/${urlToken}</code>`)
    expect(text).toContain('<svg class="qr"')
    for (const shown of ['<bdi>Router</bdi>', '<bdi>The password</bdi>', '0 of 3'])
      expect(text).toContain(shown)
    expect((await owner.get('/requests')).text).toContain(`href="/requests/${urlToken}"`)
  })

  test('shows a refused form again, with the problems beside the fields and everything typed', async () => {
    const { post } = await newOwner()
    const { status, text } = await post('/requests', {
      message: 'Typed',
      recipient: 'ssh-ed25519 AAAA',
      max_answers: '101',
    })
    expect(status).toBe(422)
    expect(text).toContain('This is not a public key of age')
    expect(text).toContain('Typed</textarea>')
    expect(text).toContain('value="ssh-ed25519 AAAA"')
    expect(text).toContain('aria-invalid="true"')
  })

  test('ends at the link when the request is closed', async () => {
    const owner = await newOwner()
    const { page, urlToken } = await ask(owner)
    expect((await owner.post(`${page}/close`, {})).headers.get('location')).toBe(page)
    const { text } = await owner.get(page)
    expect(text).toContain('It takes no more answers')
    expect(text).not.toContain(`/q/${urlToken}`)
  })

  test('requires the owner and the form token to see or close it', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const { page, text } = await ask(owner)
    expect((await other.get(page)).status).toBe(404)
    expect((await other.post(`${page}/close`, {})).status).toBe(404)
    expect((await owner.post(`${page}/close`, { form: 'stolen' })).status).toBe(403)
    expect((await owner.get(page)).text).toBe(text)
  })
})

describe('the age key of an account', () => {
  test('is copied into new requests, which explain it', async () => {
    const owner = await newOwner()
    const recipient = await newKey()
    const kept = await owner.post('/account/age-key', { recipient: ` ${recipient}\n` })
    expect(kept.headers.get('location')).toBe('/account?done=key#age-key')
    const { text } = await ask(owner)
    expect(text).toContain('Opens with your key only')
    expect(text).toContain('A lost key is a lost secret')
    expect(textsIn(text, 'code.flag')).toEqual([expect.stringMatching(/^([0-9a-f]{4}-){3}[0-9a-f]{4}$/)])
    await owner.post('/account/age-key', { recipient: '' })
    expect((await ask(owner)).text).not.toContain('Opens with your key only')
  })

  test('is introduced with a warning, and refused if invalid', async () => {
    const { get, post } = await newOwner()
    expect((await get('/account')).text).toContain('A lost key is a lost secret')
    const { status, text } = await post('/account/age-key', { recipient: 'age1nothing' })
    expect(status).toBe(422)
    expect(text).toContain('value="age1nothing"')
    expect(text).toContain('This is not a public key of age')
  })

  test('requires the password again after ten minutes', async () => {
    const { post } = await newOwner()
    const recipient = await newKey()
    api.clock.advance(11 * 60_000)
    const asked = await post('/account/age-key', { recipient })
    expect(asked.status).toBe(403)
    expect(asked.text).toContain('Key for what you receive (age)')
    expect(asked.text).toContain(`value="${recipient}"`)
    const kept = await post('/account/age-key', { recipient, password: people.password })
    expect(kept.status).toBe(303)
  })
})

function only<T>(list: readonly T[]): T {
  const [first] = list
  if (first === undefined || list.length > 1) throw new Error(`there are ${list.length}`)
  return first
}

describe('the page of a request', () => {
  const tokenOf = async (fields: Record<string, string> = {}) => {
    const owner = await newOwner()
    const { urlToken } = await ask(owner, fields)
    const list = async () =>
      (await api.call<PushBody[]>('/api/v2/pushes/active', { token: owner.token })).body
    return { owner, urlToken, path: `/q/${urlToken}`, list }
  }

  /** Returns the action of the form on the page, with the key of this answer. */
  const actionOf = (text: string) => elementsIn(text, 'form[enctype]')[0]?.attributes.action ?? ''

  /** Sends the form as a browser without scripts does. */
  function send(action: string, fields: Record<string, string>, files: File[] = []) {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(`push[${name}]`, value)
    for (const file of files) body.append('push[files][]', file)
    // A browser sends this for a file field without a chosen file.
    if (files.length === 0) body.append('push[files][]', new File([], ''))
    return people.get(action, { method: 'POST', headers: { origin: 'http://localhost' }, body })
  }

  async function open(path: string) {
    const { text } = await people.get(path)
    return { text, action: actionOf(text) }
  }

  test('shows only the requested fields, and works without scripts', async () => {
    const { path } = await tokenOf({
      name: 'For me alone',
      message: 'The <b>password</b>\nof the router',
      accept: 'text',
    })
    const { text } = await open(path)
    for (const shown of [
      'Somebody asks you for a secret',
      'The &lt;b&gt;password&lt;/b&gt;\nof the router',
      'push[payload]',
    ])
      expect(text).toContain(shown)
    for (const hidden of ['For me alone', 'asker', 'type="file"', 'push[passphrase]'])
      expect(text).not.toContain(hidden)
  })

  test('an answer reaches the owner alone, and the sender gets no link to it', async () => {
    const { owner, urlToken, path, list } = await tokenOf({ name: 'Router' })
    const { action } = await open(path)
    const sent = await send(action, { payload: 'one\r\ntwo' }, [new File(['content'], 'a.txt')])
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `${path}?done=sent`])
    const { text } = await people.get(`${path}?done=sent`)
    expect(text).toContain('It has arrived. Only the person who asked can see it.')
    expect(text).not.toContain('Send another')
    const push = only(await list())
    expect(push).toMatchObject({ received: true, request: urlToken, name: 'Router', kind: 'file' })
    expect(text + sent.headers.get('location')).not.toContain(push.url_token)
    const { text: asked } = await owner.get(`/requests/${urlToken}`)
    expect(asked).toMatch(/Answered 1 of 1.*last <time.*>answered</s)
    expect(asked).toContain(`action="/pushes/${push.url_token}/read"`)
    expect(asked).not.toContain('It takes no more answers')
    expect((await api.retrieve(push.url_token)).body.payload).toBe('one\ntwo')
  })

  test('another answer is offered while the request accepts one', async () => {
    const { path } = await tokenOf({ max_answers: '2' })
    const sent = () => people.get(`${path}?done=sent`).then(({ text }) => text.includes('Send another'))
    await send((await open(path)).action, { payload: 'x' })
    expect(await sent()).toBe(true)
    await send((await open(path)).action, { payload: 'y' })
    expect(await sent()).toBe(false)
  })

  test('a form that is sent twice delivers one answer', async () => {
    const { path, list } = await tokenOf({ max_answers: '5' })
    const { action } = await open(path)
    expect((await send(action, { payload: 'x' })).status).toBe(303)
    expect((await send(action, { payload: 'x' })).status).toBe(303)
    expect(await list()).toHaveLength(1)
  })

  test('a refused form keeps what was typed, and its idempotency key', async () => {
    const { path, list } = await tokenOf({ passphrase: 'sesame' })
    const { action } = await open(path)
    const wrong = await send(action, { passphrase: 'open', payload: 'typed <once>' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('typed &lt;once&gt;</textarea>')
    expect(wrong.text).toContain('That is not the passphrase.')
    expect(wrong.text).not.toContain('value="open"')
    expect(actionOf(wrong.text)).toBe(action)
    expect((await send(action, { payload: 'x' })).text).toContain('Please enter the passphrase.')
    expect((await send(action, { passphrase: 'sesame', payload: ' ' })).text).toContain(
      'Please fill this in.',
    )
    expect(await list()).toEqual([])
    expect((await send(action, { passphrase: 'sesame', payload: 'x' })).status).toBe(303)
  })

  test('five wrong passphrases are checked, further ones only after a minute', async () => {
    const { path } = await tokenOf({ passphrase: 'sesame' })
    const { action } = await open(path)
    const statuses: number[] = []
    for (let n = 0; n < 6; n += 1)
      statuses.push((await send(action, { passphrase: `${n}`, payload: 'kept' })).status)
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429])
    const { status, text } = await send(action, { passphrase: 'sesame', payload: 'kept' })
    expect(status).toBe(429)
    expect(text).toContain('too many wrong passphrases. Please try again in a minute.')
    expect(text).toContain('kept</textarea>')
  })

  test('with an age key the page shows its fingerprint and what the server can read', async () => {
    const recipient = await newKey()
    const { owner, path, list } = await tokenOf({ recipient })
    const { text, action } = await open(path)
    expect(text).toContain('This server sees the text on arrival')
    const [fingerprint = ''] = textsIn(text, 'code.flag')
    expect(fingerprint).toMatch(/^([0-9a-f]{4}-){3}[0-9a-f]{4}$/)
    expect(new Bun.CryptoHasher('sha256').update(recipient).digest('hex')).toStartWith(
      fingerprint.replaceAll('-', ''),
    )
    await send(action, { payload: 'x' })
    const push = only(await list())
    const revealed = await owner.post(`/pushes/${push.url_token}/read`, {})
    expect(revealed.text).toContain('Opens with your key only')
    expect(revealed.text).toContain('-----BEGIN AGE ENCRYPTED FILE-----')
  })

  test('the page of a closed request says so, and names the contact', async () => {
    const { owner, urlToken, path } = await tokenOf()
    const { action } = await open(path)
    await owner.post(`/requests/${urlToken}/close`, {})
    for (const answer of [await people.get(path), await send(action, { payload: 'x' })]) {
      expect(answer.status).toBe(410)
      expect(answer.text).toContain('ask for a new link')
    }
  })

  test('a closed request names the contact', async () => {
    const branded = await startApi({ flags: { contact: 'help@example.org' } })
    try {
      const token = await branded.addAccount('ann@example.org')
      const made = await branded.call('/api/oncebox/requests', { token, json: { request: {} } })
      const own = `/api/oncebox/requests/${made.body.url_token}`
      await branded.call(own, { method: 'DELETE', token })
      const { text } = await createPeople(branded).get(`/q/${made.body.url_token}`)
      expect(text).toContain('help@example.org')
    } finally {
      await branded.close()
    }
  })

  test('answers a program in JSON with the facts that it shows, and nothing more', async () => {
    const recipient = await newKey()
    const { path, owner, urlToken } = await tokenOf({
      ...{ name: 'For me alone', message: 'The password', accept: 'files', recipient, passphrase: 'sesame' },
    })
    const look = (accept: string, target = path) => people.get(target, { headers: { accept } })
    const told = await look('application/json')
    expect(told.status).toBe(200)
    expect(JSON.parse(told.text)).toEqual({
      ...{ accept: ['files'], message: 'The password', asker: null, recipient, passphrase_required: true },
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(told.headers.get('cache-control')).toBe('no-store')
    for (const accept of [
      'text/html,application/xhtml+xml,*/*;q=0.8',
      '*/*',
      'text/html, application/json',
    ]) {
      const page = await look(accept)
      expect(page.headers.get('content-type')).toStartWith('text/html')
      expect(page.headers.get('vary')).toBe('Accept')
    }
    expect(told.headers.get('vary')).toBe('Accept')
    const unknown = await look('application/json', `/q/${'0'.repeat(26)}`)
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([404, { error: 'not-found' }])
    await owner.post(`/requests/${urlToken}/close`, {})
    const closed = await look('application/json')
    expect([closed.status, JSON.parse(closed.text)]).toEqual([410, { error: 'request-closed' }])
  })

  test('an unknown token gets 404 in a plain frame', async () => {
    const { status, text } = await people.get(`/q/${'0'.repeat(26)}`)
    expect(status).toBe(404)
    expect(text).toContain('There is no such page')
    expect(text).not.toContain('href="/sign-in"')
  })

  test('another site cannot make a visitor’s browser send an answer', async () => {
    const { path, list } = await tokenOf()
    const { action } = await open(path)
    const body = new FormData()
    body.append('push[payload]', 'x')
    const { status } = await people.get(action, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      body,
    })
    expect(status).toBe(403)
    expect(await list()).toEqual([])
  })
})
