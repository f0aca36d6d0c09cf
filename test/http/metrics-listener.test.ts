// The listener of the metrics: the host names that it answers to.

import { afterAll, expect, test } from 'bun:test'
import { listenForMetrics } from '../../src/http/metrics-listener.ts'

const options = { contentType: 'text/plain', read: async () => 'numbers' }
const local = listenForMetrics({ address: '127.0.0.1:0', baseUrl: 'https://once.example', ...options })
const open = listenForMetrics({ address: '0.0.0.0:0', baseUrl: 'https://once.example', ...options })
afterAll(async () => {
  await local.stop()
  await open.stop()
})

const ask = (url: string, host: string) =>
  fetch(url.replace('0.0.0.0', '127.0.0.1'), { headers: { host } }).then(({ status }) => status)

test.each([
  ['localhost:9100', 200, 200],
  ['127.0.0.1', 200, 200],
  ['once.example', 200, 200],
  ['192.0.2.7:9100', 421, 200],
  ['nas:9100', 421, 200],
  ['oncebox.monitoring.svc.cluster.local:9100', 421, 200],
  ['evil.example', 421, 421],
  ['localhost.evil.example', 421, 421],
  [`${'a.'.repeat(7000)}example`, 421, 421],
])('the Host %s gets %p on loopback and %p on the network', async (host, onLoopback, onNetwork) => {
  expect(await ask(local.url, host)).toBe(onLoopback)
  expect(await ask(open.url, host)).toBe(onNetwork)
})
