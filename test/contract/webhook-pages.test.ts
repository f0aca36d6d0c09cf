// The pages of webhooks: those of an account, and those of the whole server, which administrators manage.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { elementsIn, textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type PageAnswer, type Person } from '../support/people.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhooks.ts'

let receiver: WebhookReceiver
let api: Api
let [ann, root]: Person[] = []
let status = 204
beforeEach(async () => {
  status = 204
  receiver = await startReceiver(() => new Response(null, { status }))
  api = await startApi({ flags: { 'webhook-hosts': receiver.host } })
  await api.addAccount('ann@example.org')
  await api.addAccount('root@example.org', { isAdmin: true })
  const people = createPeople(api)
  ann = await people.signIn('ann@example.org')
  root = await people.signIn('root@example.org')
})
afterEach(async () => {
  await api.close()
  receiver.close()
})

const textOf = async (answer: Promise<PageAnswer> | undefined) => (await answer)?.text ?? ''
const secretIn = (html: string) => /whsec_[\w+/=]+/.exec(html)?.[0]

test('a webhook is added, tested and deleted, and only its host is shown', async () => {
  const url = `${receiver.url('/a-secret-path')}?token=abc`
  const made = await textOf(
    ann?.post('/account/webhooks', { url, format: 'ntfy', with_name: 'true', 'push.opened': 'true' }),
  )
  expect(secretIn(made)).toBeDefined()
  const listed = await textOf(ann?.get('/account/notices'))
  expect(listed).toContain(receiver.host)
  expect(listed).toContain('ntfy')
  expect(listed).not.toMatch(/a-secret-path|abc|whsec_/)
  const id = valueIn(listed, 'id')
  expect(await textOf(ann?.post('/account/webhooks/test', { id }))).toContain('The test has arrived.')
  expect(receiver.received).toHaveLength(1)
  status = 500
  const failed = await textOf(ann?.post('/account/webhooks/test', { id }))
  expect(failed).toContain('The test has not arrived. The receiving server answered with an error (500).')
  expect(await textOf(ann?.post('/account/webhooks/delete', { id }))).toContain('There are no webhooks yet.')
  expect((await ann?.post('/account/webhooks/delete', { id }))?.status).toBe(200)
})

test('a refused form keeps what was typed, and shows the problems', async () => {
  const url = 'https://elsewhere.example/"><script>'
  const answer = await ann?.post('/account/webhooks', {
    url,
    format: 'matrix',
    with_name: 'true',
    'push.locked': 'true',
  })
  expect(answer?.status).toBe(422)
  const html = answer?.text ?? ''
  expect(html).toContain('https://elsewhere.example/&quot;&gt;&lt;script&gt;')
  expect(elementsIn(html, 'option[value="matrix"][selected]')).toHaveLength(1)
  expect(elementsIn(html, '[name="push.locked"][checked]')).toHaveLength(1)
  expect(elementsIn(html, '[name="push.opened"][checked]')).toEqual([])
  expect((await ann?.post('/account/webhooks', { url: receiver.url(), format: 'standard' }))?.text).toContain(
    'href="#events"',
  )
  expect(html).toContain('sends messages only to hosts that its administrator lists')
})

test('administrators have webhooks for the whole server, hidden from others, whose events contain no name', async () => {
  expect((await ann?.get('/admin/webhooks'))?.status).toBe(403)
  expect((await ann?.post('/admin/webhooks', { url: receiver.url() }))?.status).toBe(403)
  const made = await textOf(
    root?.post('/admin/webhooks', { url: receiver.url(), format: 'standard', 'push.opened': 'true' }),
  )
  expect(secretIn(made)).toBeDefined()
  expect(made).not.toContain('name="with_name"')
  const id = valueIn(await textOf(root?.get('/admin/webhooks')), 'id')
  expect(await textOf(root?.get('/account/notices'))).toContain('There are no webhooks yet.')
  for (const path of ['/account/webhooks/test', '/admin/webhooks/test'])
    expect([403, 404]).toContain((await ann?.post(path, { id }))?.status ?? 0)
  await ann?.post('/account/webhooks/delete', { id })
  const push = await api.create({ name: 'the name' }, { token: await api.addAccount('bob@example.org') })
  await api.retrieve(push.url_token)
  const [told] = await receiver.waitFor(1)
  expect(JSON.parse(told?.body ?? '')).toMatchObject({ type: 'push.opened' })
  expect(told?.body).not.toContain('the name')
  expect(await textOf(root?.get('/admin'))).toContain('Webhooks for all accounts')
})

test('the administration page reports a failing webhook in the language of its reader', async () => {
  await root?.post('/admin/webhooks', { url: receiver.url(), format: 'standard', 'push.opened': 'true' })
  status = 500
  await root?.post('/admin/webhooks/test', { id: '1' })
  const said = textsIn(await textOf(root?.get('/admin?locale=de')), '#attention .notice p')
  expect(said.slice(0, 2)).toEqual([
    'Webhooks schlagen fehl. Ihre Nachrichten warten höchstens einen Tag.',
    `${receiver.host}: Der empfangende Server hat mit einem Fehler geantwortet (500).`,
  ])
})

test('without --webhook-hosts there is no tab, and the page names the flag', async () => {
  const plain = await startApi()
  try {
    await plain.addAccount('ann@example.org')
    const person = await createPeople(plain).signIn('ann@example.org')
    expect(await textOf(person.get('/account'))).not.toContain('/account/notices')
    const page = await textOf(person.get('/account/notices'))
    expect(page).toContain('--webhook-hosts')
    expect(page).not.toContain('name="url"')
    expect((await person.post('/account/webhooks', { url: receiver.url(), format: 'standard' })).status).toBe(
      422,
    )
  } finally {
    await plain.close()
  }
})

test('the table changes the events of each webhook, and leaves those of other accounts unchanged', async () => {
  const events = { 'push.opened': 'true', 'push.locked': 'true' }
  await ann?.post('/account/webhooks', { url: receiver.url(), format: 'ntfy', ...events })
  await root?.post('/account/webhooks', { url: receiver.url(), format: 'ntfy', ...events })
  const ticked = async (person: Person | undefined) => {
    const html = await textOf(person?.get('/account/notices'))
    return elementsIn(html, '.wishes input[checked]').map(({ attributes }) => attributes.name)
  }
  const [id, other] = [1, 2]
  expect(await ticked(ann)).toEqual([`${id}/push.opened`, `${id}/push.locked`])
  const saved = await ann?.post('/account/mail', {
    webhook: String(id),
    [`${id}/push.expired_unopened`]: 'true',
  })
  expect(saved?.headers.get('location')).toBe('/account/notices?mail=saved')
  await ann?.post('/account/mail', { webhook: String(other) })
  expect(await ticked(ann)).toEqual([`${id}/push.expired_unopened`])
  expect(await ticked(root)).toEqual([`${other}/push.opened`, `${other}/push.locked`])
})
