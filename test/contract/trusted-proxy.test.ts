// A single address as trusted proxy: forwarded headers count from it, and from no neighbouring address.

import { afterEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'

let api: Api
afterEach(() => api.close())

const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'pi.local' }
const linkFrom = async (from: string) => (await api.create({}, { headers, from })).html_url

test.each([
  ['10.1.2.3', '10.1.2.4'],
  ['2001:db8::1', '2001:db8::2'],
  ['2001:db8::/126', '2001:db8::4'],
])('--trusted-proxy %s does not trust %s', async (proxy, neighbour) => {
  api = await startApi({ flags: { 'trusted-proxy': proxy } })
  expect(await linkFrom(proxy.replace('/126', '3'))).toStartWith('https://pi.local/p/')
  expect(await linkFrom(neighbour)).toStartWith('http://localhost/p/')
})

test('a host name may have 253 characters and a port', async () => {
  const host = `${'a'.repeat(61)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}:65535`
  expect(host.length).toBe(259)
  api = await startApi({ flags: { 'base-url': `http://${host}` } })
  expect((await api.post({ payload: 'x' }, { headers: { host } })).status).toBe(201)
  expect((await api.post({ payload: 'x' }, { headers: { host: `a${host}` } })).status).toBe(421)
})
