// A server that terminates TLS itself: its links, cookies and headers, and what plain HTTP still answers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { startInstance, type TestInstance } from '../support/instance.ts'

let box: TestInstance
beforeAll(async () => {
  box = await startInstance({ flags: { tls: 'auto', 'http-port': '5180', mdns: 'oncebox' } })
})
afterAll(() => box.close())

const HOST = 'oncebox.local:5100'
const over = (path: string, init: Parameters<TestInstance['fetch']>[1] = {}) =>
  box.fetch(`https://${HOST}${path}`, init)

function inTheClear(path: string, init: RequestInit = {}, host = 'oncebox.local:5180'): Promise<Response> {
  const headers = new Headers({ host })
  return box.fetchPlain(new Request(`http://${host}${path}`, { ...init, headers }))
}

test('links use https, and no HSTS is sent, because a new authority would lock all browsers out', async () => {
  const created = await over('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  const { html_url } = (await created.json()) as { html_url: string }
  expect(html_url).toStartWith(`https://${HOST}/p/`)
  expect(created.headers.get('strict-transport-security')).toBeNull()
})

test.each(['https://pi/up', 'https://nas:5100/up', 'https://[::1]/up'])('%s finds its route', async (url) => {
  expect((await box.fetch(url)).status).toBe(200)
})

test('a form counts as same-origin only if its origin is https', async () => {
  const send = (origin: string) =>
    over('/api/v2/pushes', { json: { push: { payload: 'x' } }, headers: { origin } })
  expect((await send(`https://${HOST}`)).status).toBe(201)
  expect((await send(`http://${HOST}`)).status).toBe(403)
  expect((await send('http://oncebox.local:5180')).status).toBe(403)
})

describe('plain HTTP', () => {
  test('redirects to the same page over https, with its query', async () => {
    const answer = await inTheClear('/p/abc/r?locale=de')
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('https://oncebox.local:5100/p/abc/r?locale=de')
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test.each([
    ['POST', '/api/v2/pushes'],
    ['GET', '/api/v2/version'],
    ['DELETE', '/p/abc.json'],
    ['GET', '/d/grant'],
  ])('refuses %s %s and names the https URL', async (method, path) => {
    const answer = await inTheClear(path, { method })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('https://oncebox.local:5100')
  })

  test('does not redirect a foreign Host', async () => {
    const answer = await inTheClear('/', {}, 'evil.example')
    expect(answer.status).toBe(421)
    expect(answer.headers.get('location')).toBeNull()
  })

  test('answers the liveness check', async () => {
    expect((await inTheClear('/up')).status).toBe(200)
  })
})

describe('the trust page', () => {
  const fingerprintOf = async (path: string) =>
    new X509Certificate(Buffer.from(await (await inTheClear(path)).arrayBuffer())).fingerprint256

  test('works without TLS, has no form and no cookie, and warns that it may be forged', async () => {
    const answer = await inTheClear('/trust?locale=en')
    const page = await answer.text()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(page).not.toContain('<form')
    expect(page).toContain('could have forged this page')
    expect(page).toContain(await fingerprintOf('/trust/oncebox.pem'))
  })

  test('offers the same authority in each format, without its key', async () => {
    const pem = await fingerprintOf('/trust/oncebox.pem')
    expect(await fingerprintOf('/trust/oncebox.cer')).toBe(pem)
    const profile = await (await over('/trust/oncebox.mobileconfig')).text()
    const der = Buffer.from(/<data>(.*)<\/data>/.exec(profile)?.[1] ?? '', 'base64')
    expect(new X509Certificate(der).fingerprint256).toBe(pem)
    expect(await (await over('/trust/oncebox.pem')).text()).not.toContain('PRIVATE')
  })

  test.each(['oncebox.key', '..%2ftls-authority.pem', 'constructor'])('has no file %s', async (name) => {
    expect((await over(`/trust/${name}`)).status).toBe(404)
  })

  test('is missing if the certificate is not from our own authority', async () => {
    const plain = await startInstance()
    expect((await plain.fetch('/trust')).status).toBe(404)
    expect((await plain.fetch('/trust/oncebox.pem')).status).toBe(404)
    await plain.close()
  })
})
