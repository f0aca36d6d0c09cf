// Metrics of the compiled binary: only on their own listener, and with every name that the dashboard and the
// alert rules use.

import { afterEach, expect, test } from 'bun:test'
import { createStage, type Started } from '../support/binary.ts'
import { listAskedMetrics } from '../support/monitoring.ts'

const stage = createStage()
afterEach(stage.clear)

const metricsUrl = (server: Started) => /serving metrics url="([^"]+)"/.exec(server.stderr())?.[1] ?? ''

async function start(): Promise<Started> {
  const flags = ['--metrics-listen', '127.0.0.1:0', '--backup-dir', stage.folder()]
  const server = await stage.start({ flags })
  while (metricsUrl(server) === '') await Bun.sleep(5)
  return server
}

test('metrics are only on their own listener, and nowhere without the flag', async () => {
  const server = await start()
  const response = await fetch(metricsUrl(server))
  expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  expect((await server.ask('/metrics')).status).toBe(404)
  expect((await fetch(metricsUrl(server).replace('/metrics', '/'))).status).toBe(404)
  expect((await fetch(metricsUrl(server), { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await stage.start()).stderr()).not.toContain('metrics')
})

test('every line is well-formed, dashboard and alerts find all their names, and no push or account is named', async () => {
  const server = await start()
  const { url_token } = await (await server.create({ payload: 'hidden', passphrase: 'secret words' })).json()
  await server.retrieve(url_token)
  await server.retrieve(`${url_token}?passphrase=wrong`)
  const plain = await (await server.create({ payload: 'plain' })).json()
  await server.retrieve(plain.url_token)
  await server.ask('/api/v2/pushes/nope')
  await server.ask(`/p/${url_token}`)
  const text = await (await fetch(metricsUrl(server))).text()
  for (const line of text.split('\n').filter((found) => found !== ''))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/)
  const { usual } = await listAskedMetrics()
  expect(usual.length).toBeGreaterThan(15)
  for (const name of usual) expect(text).toContain(name)
  expect(text).toContain('oncebox_retrievals_total{outcome="wrong_passphrase"} 1')
  expect(text).toContain('oncebox_refusals_total{reason="not_found"} 1')
  expect(text).toContain('oncebox_pushes_live 2')
  for (const needle of [url_token, plain.url_token, 'hidden', 'secret', '127.0.0.1', '/p/'])
    expect(text).not.toContain(needle)
})

test('a metrics port in use refuses the start and names its flag', async () => {
  const server = await start()
  const place = new URL(metricsUrl(server)).host
  const { code, stderr } = await stage.serve(stage.folder(), '--metrics-listen', place)
  expect(code).toBe(1)
  expect(stderr).toContain('choose another --metrics-listen')
})
