// Links to localhost on a server for the network: a warning wherever they are shown, and a link to the same
// page under a reachable address.

import { afterEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { attributesIn, valueIn } from '../support/page-facts.ts'
import { createPeople } from '../support/people.ts'

let api: Api
afterEach(() => api.close())

const LOCAL = { host: 'localhost:5100' }
const start = async (flags: Record<string, string>) => {
  api = await startApi({ flags, machineAddresses: ['127.0.0.1', '192.168.1.20'] })
}

async function page(path: string, headers: Record<string, string> = LOCAL): Promise<string> {
  return (await api.fetch(path, { from: '127.0.0.1', headers })).text()
}

test('pages that create and show a link offer a link to themselves under the address of the machine', async () => {
  await start({ host: '0.0.0.0' })
  const { url_token } = await api.create({}, { from: '127.0.0.1' })
  expect(await page('/')).toContain('href="http://192.168.1.20:5100/"')
  const preview = `/p/${url_token}/preview`
  const created = await page(preview)
  expect(created).toContain('work only on this machine')
  expect(created).toContain(`href="http://192.168.1.20:5100${preview}"`)
  const better = await page(preview, { host: '192.168.1.20:5100' })
  expect(better).toContain(`http://192.168.1.20:5100/p/${url_token}/r`)
  expect(better).not.toContain('localhost')
  expect(await page(`${preview}?locale=de`)).toContain(`href="http://192.168.1.20:5100${preview}?locale=de"`)
})

test('an invitation is offered as a link with the address of the machine', async () => {
  await start({ host: '0.0.0.0' })
  await api.addAccount('ann@example.org', { isAdmin: true })
  const form = (fields: Record<string, string>) => ({
    ...{ method: 'POST', from: '127.0.0.1', redirect: 'manual' as const, body: new URLSearchParams(fields) },
  })
  const origin = { ...LOCAL, origin: 'http://localhost:5100' }
  const signedIn = await api.fetch('/sign-in', {
    ...form({ email: 'ann@example.org', password: 'correct horse battery' }),
    headers: origin,
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const token = valueIn(await page('/admin', { ...LOCAL, cookie }), 'form')
  const invited = await api.fetch('/admin/invitations', {
    ...form({ form: token, email: 'bob@example.org' }),
    headers: { ...origin, cookie },
  })
  const location = invited.headers.get('location')
  const shown = location === null ? await invited.text() : await page(location, { ...LOCAL, cookie })
  expect(attributesIn(shown, 'a', 'href')).toContainEqual(
    expect.stringMatching(/^http:\/\/192\.168\.1\.20:5100\/welcome\/\w{32}$/),
  )
})

test('a server on loopback warns on the page of a link how others can reach it', async () => {
  await start({ host: 'localhost' })
  const { url_token } = await api.create({}, { from: '127.0.0.1' })
  expect(await page(`/p/${url_token}/preview`)).toMatch(
    /<div class="notice low".*localhost:5100 work only on this machine.*<code class="flag" dir="ltr">--host 0.0.0.0</s,
  )
  // This page shows no link.
  expect(await page('/')).not.toContain('work only on this machine')
})

test('the first page of a new administrator warns of localhost', async () => {
  await start({ host: 'localhost' })
  await api.addAccount('ann@example.org', { isAdmin: true })
  const { cookie } = await createPeople(api).signIn('ann@example.org')
  expect(await page('/admin/welcome', { ...LOCAL, cookie })).toContain('work only on this machine')
})

test('a server with a base URL shows no warning', async () => {
  await start({ host: '0.0.0.0', 'base-url': 'https://once.example' })
  const { url_token } = await api.create({}, { from: '127.0.0.1' })
  for (const path of ['/', `/p/${url_token}/preview`])
    expect(await page(path)).not.toContain('work only on this machine')
})
