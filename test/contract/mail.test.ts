// Mails with links of pushes: who may send them, their content, and when none is sent.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { LANGUAGES } from '../../src/domain/language.ts'
import { type Api, PUSHES, startApi, type Wire } from '../support/api.ts'
import { headerOf, type MailServer, type Received, startMailServer } from '../support/mail-server.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const BOB = 'bob@example.org'
const CLEO = 'cleo@example.org'

/** Decides how the mail server treats the next mail. */
let onMail: (mail: Received) => 'take' | 'die' | Promise<'take' | 'die'> = () => 'take'
let server: MailServer
let api: Api
let owner: string
let other: string

beforeAll(async () => {
  server = await startMailServer({ login: { user: 'once', pass: 'p@ss' }, onMail: (mail) => onMail(mail) })
  const flags = {
    'smtp-url': server.url,
    'mail-from': 'Once <once@example.org>',
    'base-url': 'http://localhost',
    'brand-name': 'Once',
  }
  api = await startApi({ flags })
  owner = await api.addAccount('ann@example.org')
  other = await api.addAccount('eve@example.org')
})
afterAll(async () => {
  await api.close()
  await server.stop()
})

const create = (push: Wire, token: string | undefined = owner) =>
  api.fetch(PUSHES, {
    method: 'POST',
    json: { push: { payload: 'swordfish', ...push } },
    ...(token ? { token } : {}),
  })

async function arrived(count: number): Promise<Received[]> {
  await waitUntil(() => server.mails.length >= count)
  return server.mails.splice(0)
}

const kindsOf = async (urlToken: string) => {
  const { logs } = (await (await api.fetch(`${PUSHES}/${urlToken}/audit`, { token: owner })).json()) as {
    logs: { kind: string }[]
  }
  return logs.map(({ kind }) => kind)
}

test('the version reports that links can be mailed', async () => {
  const version = (await (await api.fetch('/api/v2/version')).json()) as Wire
  expect(version).toHaveProperty('features.pushes.email_auto_dispatch', true)
})

test('each recipient gets the link in a separate mail, without payload, name or note', async () => {
  const response = await create({ name: 'VPN', note: 'for Bob', notify_emails_to: ` ${BOB}, ${CLEO},` })
  const push = (await response.json()) as { url_token: string; html_url: string }
  expect(response.status).toBe(201)
  const mails = await arrived(2)
  expect(mails.map(({ to }) => to).sort()).toEqual([[BOB], [CLEO]])
  for (const mail of mails) {
    expect(mail.from).toBe('once@example.org')
    expect(headerOf(mail, 'from')).toBe('Once <once@example.org>')
    expect(headerOf(mail, 'subject')).toBe('Somebody shares a secret with you')
    expect(mail.text).toContain(`\n${push.html_url}\n`)
    expect(mail.text).toContain('can be opened 5 times, until 27 November 2026')
    expect(mail.raw).not.toMatch(/swordfish|VPN|for Bob|ann@example/)
  }
  expect(new Set(mails.map((mail) => headerOf(mail, 'message-id'))).size).toBe(2)
  expect(await kindsOf(push.url_token)).toEqual(['creation', 'creation_email_send'])
})

test('a mail is in the requested language; in English if none is given', async () => {
  await create({ notify_emails_to: BOB, notify_emails_to_locale: 'de-AT', passphrase: 'x' })
  const [mail] = await arrived(1)
  expect(mail?.text).toContain('Dieser Link lässt sich 5')
  expect(mail?.text).toContain('Passphrase')
})

describe('refuses', () => {
  test.each([
    [
      { notify_emails_to: 'bob' },
      { notify_emails_to: ['must be addresses such as ann@example.org, separated by commas'] },
    ],
    [{ notify_emails_to: [BOB] }, { notify_emails_to: ['must be a string'] }],
    [
      { notify_emails_to: 'a@b.c,b@b.c,c@b.c,d@b.c,e@b.c,f@b.c' },
      { notify_emails_to: ['are too many (at most 5)'] },
    ],
    [
      { notify_emails_to: `${'x'.repeat(1281)}` },
      { notify_emails_to: ['is too long (at most 1280 characters)'] },
    ],
    [
      { notify_emails_to_locale: 'tlh' },
      { notify_emails_to_locale: [`must be one of ${LANGUAGES.toSorted().join(', ')}`] },
    ],
    [
      { payload: '', notify_emails_to: 'x', notify_emails_to_locale: 7 },
      {
        payload: ["can't be blank"],
        notify_emails_to: [expect.any(String)],
        notify_emails_to_locale: [expect.any(String)],
      },
    ],
  ])('%j', async (given, problems) => {
    const response = await create(given)
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({ error: expect.any(String), ...problems })
  })

  test('people without an account', async () => {
    const response = await api.fetch(PUSHES, {
      json: { push: { payload: 'x', notify_emails_to: BOB, notify_emails_to_locale: 'de' } },
    })
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        error: expect.any(String),
        notify_emails_to: ['needs an account'],
        notify_emails_to_locale: ['needs an account'],
      },
    ])
  })
})

test('a create that is repeated with its idempotency key sends nothing again', async () => {
  const send = (to: string) =>
    api.fetch(PUSHES, {
      json: { push: { payload: 'x', notify_emails_to: to } },
      ...{ token: owner, headers: { 'idempotency-key': 'a-key-that-somebody-made-up' } },
    })
  const bodies = [await (await send(BOB)).json(), await (await send(BOB)).json()]
  expect(bodies[1]).toEqual(bodies[0])
  expect((await send(CLEO)).status).toBe(422)
  await create({ notify_emails_to: 'dan@example.org' })
  expect((await arrived(2)).map(({ to }) => to)).toEqual([[BOB], ['dan@example.org']])
})

test('the previous version of the API sends the link, too', async () => {
  const given = { payload: 'swordfish', notify_emails_to: BOB, notify_emails_to_locale: 'ja' }
  const response = await api.fetch('/p.json', { json: { password: given }, token: owner })
  const { html_url } = (await response.json()) as { html_url: string }
  const [mail] = await arrived(1)
  expect([response.status, mail?.text.includes(html_url)]).toEqual([201, true])
  expect(headerOf(mail as Received, 'subject')).toBe('秘密の情報が共有されました')
})

test('a push that ends before its mail is sent causes no mail', async () => {
  const held = Promise.withResolvers<'take'>()
  const reached = Promise.withResolvers<void>()
  onMail = () => {
    reached.resolve()
    return held.promise
  }
  await create({ notify_emails_to: BOB })
  await reached.promise
  const { url_token } = (await (await create({ notify_emails_to: CLEO })).json()) as { url_token: string }
  await api.fetch(`${PUSHES}/${url_token}`, { method: 'DELETE', token: owner })
  onMail = () => 'take'
  held.resolve('take')
  await create({ notify_emails_to: 'dan@example.org' })
  expect((await arrived(2)).map(({ to }) => to)).toEqual([[BOB], ['dan@example.org']])
})

test('a mail server that drops the connection before its reply gets the same mail again', async () => {
  const tries: Received[] = []
  onMail = (mail) => {
    tries.push(mail)
    return tries.length === 1 ? 'die' : 'take'
  }
  await create({ notify_emails_to: BOB })
  await waitUntil(() => tries.length === 1)
  await waitUntil(() => {
    api.clock.advance(10_000)
    return tries.length === 2
  })
  const [first, second] = tries.map((mail) => [headerOf(mail, 'message-id'), mail.to, mail.text])
  expect(second).toEqual(first)
  expect(await arrived(1)).toHaveLength(1)
})

describe('an account that wants mail about events', () => {
  let people: People
  let ann: Person
  const wish = (fields: Record<string, string>) => ann.post('/account/mail', fields)
  beforeAll(async () => {
    people = createPeople(api)
    ann = await people.signIn('ann@example.org')
  })

  test('gets it without the name of the push or its link, in the language of its choice', async () => {
    expect((await wish({ 'push.opened': 'true' })).headers.get('location')).toBe(
      '/account/notices?mail=saved',
    )
    const { url_token } = (await (await create({ name: 'VPN for Bob' })).json()) as { url_token: string }
    await api.fetch(`${PUSHES}/${url_token}`)
    const [mail] = await arrived(1)
    expect([mail?.to, headerOf(mail as Received, 'subject')]).toEqual([
      ['ann@example.org'],
      'A secret was opened',
    ])
    expect(mail?.text).toContain('20 November 2026 at 12:')
    expect(mail?.text).toContain('http://localhost/pushes\n')
    expect(mail?.raw).not.toMatch(new RegExp(`VPN|swordfish|${url_token}`))
    await ann.post('/account/mail?locale=de', { 'push.opened': 'true' })
    const again = await people.post('/sign-in', { email: 'ann@example.org', password: people.password })
    expect(again.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^oncebox_language=de;/))
    const chosen = { headers: { cookie: 'oncebox_language=fr' } }
    const fields = { email: 'ann@example.org', password: people.password }
    expect((await people.post('/sign-in', fields, chosen)).headers.getSetCookie()).toHaveLength(1)
    await api.fetch(`${PUSHES}/${url_token}`)
    const [german] = await arrived(1)
    expect(german?.text).toContain('Ein Geheimnis wurde geöffnet\n\n')
    expect(german?.raw).not.toMatch(new RegExp(`VPN|${url_token}`))
  })

  test('gets a link to the new answers when somebody has answered a request', async () => {
    await wish({ 'request.answered': 'true' })
    const { body } = await api.call('/api/oncebox/requests', { token: owner, json: { request: {} } })
    await api.call(`/api/oncebox/requests/${body.url_token}/answers`, { json: { push: { payload: 'x' } } })
    const [mail] = await arrived(1)
    expect(mail?.text).toContain('http://localhost/pushes?show=new\n')
    await wish({ 'push.opened': 'true' })
  })

  test('sees fields in the form, which are never filled in from the address of the page', async () => {
    const { text } = await ann.get('/?notify_emails_to=eve@example.org&kind=text')
    expect(text.includes('name="push[notify_emails_to]" type="text" value=""')).toBe(true)
    const fields = { 'push[kind]': 'text', 'push[payload]': 'x', 'push[notify_emails_to_locale]': 'es' }
    const opened = /name="push\[opened_by\]" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const send = (to: string) =>
      ann.post('/', {
        ...fields,
        'push[opened_by]': opened,
        'push[form]': ann.form,
        'push[notify_emails_to]': to,
      })
    const refused = await send('bob')
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('<a href="#notify_emails_to">Send the link by e-mail to: Please enter')
    expect(refused.text).toContain('value="bob"')
    const made = await send(`${BOB},${CLEO}`)
    expect(made.headers.get('location')).toEndWith('/preview?mailed=true')
    expect((await ann.get(made.headers.get('location') ?? '')).text).toContain('on its way by e-mail')
    const mails = await arrived(2)
    expect(mails.map((mail) => headerOf(mail, 'subject'))).toEqual(
      Array(2).fill('Alguien comparte un secreto con usted'),
    )
  })

  test('sees its choices, and can turn them off', async () => {
    expect((await ann.get('/account/notices')).text).toMatch(/name="push\.opened" value="true" checked/)
    await wish({})
    const { url_token } = (await (await create({})).json()) as { url_token: string }
    await api.fetch(`${PUSHES}/${url_token}`)
    await create({ notify_emails_to: BOB })
    expect((await arrived(1)).map(({ to }) => to)).toEqual([[BOB]])
  })

  test('can request a test mail', async () => {
    const sent = await ann.post('/account/mail/test', {})
    expect(sent.headers.get('location')).toBe('/account/notices?mail=sent')
    expect((await ann.get('/account/notices?mail=sent')).text).toContain(
      'The mail server has taken the test mail.',
    )
    const [mail] = await arrived(1)
    expect(headerOf(mail as Received, 'subject')).toBe('Test mail of Once')
    onMail = () => 'die'
    const failed = await ann.post('/account/mail/test', {})
    onMail = () => 'take'
    expect(failed.headers.get('location')).toBe('/account/notices?mail=unreachable')
    const { text } = await ann.get('/account/notices?mail=unreachable')
    expect(text).toContain('The test mail was not sent.')
    // Only administrators see the reason.
    expect(text).not.toContain('cannot be reached')
  })
})

/**
 * Addresses that could end a header or a command, name another recipient, or be read as several addresses.
 */
const HOSTILE = [
  'bob@example.org\r\nBcc: eve@example.org',
  'bob@example.org\nX: y',
  'bob@example.org\u2028x',
  'bob@example.org> SIZE=1\r\nRCPT TO:<eve@example.org',
  '<bob@example.org>',
  'Bob <bob@example.org>',
  'friends: bob@example.org;',
  'bob@example.org;eve@example.org',
  '"bob eve"@example.org',
  'bob@[127.0.0.1]',
  'bob(eve)@example.org',
  'bob@eve@example.org',
  'bob@example.org\0',
  '=?utf-8?q?bob?=@example.org',
  'bob%example.net@example.org',
  'bob.@example.org',
  '@example.org',
  'bob@-example.org',
  `${'b'.repeat(65)}@example.org`,
  `bob@${'e'.repeat(64)}.org`,
]

test.each(HOSTILE)('no mail is sent to %j', async (address) => {
  const before = server.connections.length
  const { status } = await create({ notify_emails_to: address })
  expect([status, server.connections.length - before]).toEqual([422, 0])
})

describe('POST /pushes/:url_token/notify_emails', () => {
  const post = (urlToken: string, push: Wire, token: string | undefined = owner) =>
    api.fetch(`${PUSHES}/${urlToken}/notify_emails`, { json: { push }, ...(token ? { token } : {}) })
  let urlToken: string
  beforeAll(async () => {
    urlToken = ((await (await create({})).json()) as { url_token: string }).url_token
  })

  test('mails the link for its owner and audits it', async () => {
    const response = await post(urlToken, { notify_emails_to: BOB, notify_emails_to_locale: 'fr' })
    expect([response.status, await response.json()]).toEqual([
      200,
      { url: `http://localhost/p/${urlToken}/r` },
    ])
    const [mail] = await arrived(1)
    expect(mail?.text).toContain(`http://localhost/p/${urlToken}/r`)
    expect(headerOf(mail as Received, 'subject')).toBe('Quelqu’un partage un secret avec vous')
    expect(await kindsOf(urlToken)).toEqual(['creation', 'creation_email_send'])
  })

  test('refuses any other account, and names what is missing', async () => {
    const given = { notify_emails_to: BOB }
    const statuses = [
      await api.fetch(`${PUSHES}/${urlToken}/notify_emails`, { json: { push: given } }),
      await post(urlToken, given, other),
      await post('00000000000000000000000000', given),
      await post(urlToken, {}),
      await post(urlToken, { notify_emails_to: 'x' }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([401, 403, 404, 422, 422])
    const anonymous = (await (await create({}, '')).json()) as { url_token: string }
    expect((await post(anonymous.url_token, given)).status).toBe(403)
  })

  test('refuses an expired push', async () => {
    const ended = (await (await create({})).json()) as { url_token: string }
    await api.fetch(`${PUSHES}/${ended.url_token}`, { method: 'DELETE', token: owner })
    const response = await post(ended.url_token, { notify_emails_to: BOB })
    expect([response.status, await response.json()]).toEqual([
      422,
      { error: expect.any(String), notify_emails_to: ['would get a link that no longer works'] },
    ])
    expect(await kindsOf(ended.url_token)).toEqual(['creation', 'expire'])
  })
})
