// The address of a form answers GET, because browsers request it on a reload or a change of language after a
// refusal.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Endpoint, PAGES } from '../../src/http/urls.ts'
import { type Api, startApi } from '../support/api.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'ja']
/** URLs whose GET leads to the provider, or that are not forms. */
const OF_PROVIDER: readonly string[] = [PAGES.submitProvider.path, PAGES.providerLogout.path]
const FORMS: Endpoint[] = Object.values(PAGES).filter(
  ({ method, path }) => method === 'POST' && !OF_PROVIDER.includes(path),
)
/** An address that is exempt from rate limits. */
const from = '127.0.0.1'

let api: Api
let stranger: People
let admin: Person
/** Values of path parameters, by the text before them. */
const parameters = new Map<string, string>()

beforeAll(async () => {
  const mail = { 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' }
  api = await startApi({ flags: { ...mail, 'base-url': 'http://localhost', signups: 'true' } })
  stranger = createPeople(api)
  const token = await api.addAccount('cleo@example.org', { isAdmin: true })
  admin = await stranger.signIn('cleo@example.org', { from })
  const { url_token } = await api.create({}, { token })
  const json = { request: { name: 'the contract' } }
  const asked = await api.call<{ url_token: string }>('/api/oncebox/requests', { json, token })
  const { text } = await admin.post('/admin/invitations', { email: 'x@example.org' })
  for (const start of ['/p/', '/pushes/']) parameters.set(start, url_token)
  for (const start of ['/requests/', '/q/']) parameters.set(start, asked.body.url_token)
  parameters.set('/welcome/', /localhost\/welcome\/(\w+)</.exec(text)?.[1] ?? 'none')
  for (const start of ['/admin/accounts/', '/admin/invitations/']) parameters.set(start, '7')
})
afterAll(() => api.close())

function addressOf({ path }: Endpoint): string {
  const [before = '', name] = path.split(/:\w+/)
  return name === undefined ? path : `${before}${parameters.get(before)}${name}`
}

/** Follows redirects. Resolves to the final page with its path. */
async function follow(person: Pick<People, 'get'>, address: string) {
  let at = address
  let answer = await person.get(at, { from })
  for (let hops = 0; answer.status === 303 && hops < 3; hops += 1) {
    at = answer.headers.get('location') ?? ''
    answer = await person.get(at, { from })
  }
  const language = /<html lang="(\w+)"/.exec(answer.text)?.[1]
  return { status: answer.status, language, text: answer.text, path: at.split('?', 1)[0] }
}

test.each(FORMS.map((url) => [url.path, url] as const))(
  'GET %s leads to the page of the form',
  async (_, url) => {
    const address = addressOf(url)
    const isGuarded = url.guard === 'member' || url.guard === 'admin'
    const plain = await follow(admin, address)
    expect([address, plain.status]).toEqual([address, 200])
    for (const language of LANGUAGES) {
      const own = await follow(admin, `${address}?locale=${language}`)
      expect(own).toMatchObject({ status: 200, language, path: plain.path })
      const other = await follow(stranger, `${address}?locale=${language}`)
      expect(other).toMatchObject({ status: 200, language })
      expect(other.path).toBe(isGuarded ? PAGES.signIn.path : plain.path)
    }
  },
)

test.each([
  [PAGES.changePassword.path, '/account'],
  [PAGES.testMail.path, '/account/notices'],
  [PAGES.keepRecipient.path, '/account'],
  [PAGES.signOut.path, '/account'],
  [PAGES.invite.path, '/admin'],
  [PAGES.changeAppearance.path, '/admin'],
])('the form of %s stands on %s', async (address, page) => {
  const shown = await follow(admin, address)
  expect(shown.path).toBe(page)
  expect(shown.text).toContain(`action="${address}"`)
})
