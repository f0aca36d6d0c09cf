// Three nodes of the compiled binary on one PostgreSQL server and one bucket: short versions of the tests in
// `npm run chaos`.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { bucket } from '../../scripts/chaos/bucket.ts'
import { database } from '../../scripts/chaos/database.ts'
import { kills } from '../../scripts/chaos/kills.ts'
import { network } from '../../scripts/chaos/network.ts'
import { readers } from '../../scripts/chaos/readers.ts'
import type { Scenario } from '../../scripts/chaos/scenario.ts'
import { createDraw } from '../../src/selftest/load.ts'
import { BINARY } from '../support/binary.ts'
import { listAskedMetrics, readMetrics } from '../support/monitoring.ts'
import { needs } from '../support/needs.ts'
import { type Office, openOffice } from '../support/nodes.ts'
import { untilTaken } from '../support/waiting.ts'

/** A machine that runs other tests beside these is slow. */
const RECOVERY_MS = 40_000
/** Dozens of requests a second are under way at a failure too, and leave the processor to other tests. */
const PAUSE_MS = 500

needs('postgres').describe('three nodes', () => {
  let office: Office
  beforeAll(async () => {
    office = await openOffice({ nodes: 3, isDurable: false, flags: ['--metrics-listen', '127.0.0.1:0'] })
  })
  afterAll(() => office?.close())

  test.each([
    { ...readers, rounds: 6 },
    { ...kills, rounds: 2 },
    { ...database, rounds: 1 },
    { ...network, rounds: 3 },
    { ...bucket, rounds: 1 },
  ] as Scenario[])('$what', async ({ run, rounds }) => {
    const draw = createDraw(Date.now())
    const trial = {
      office,
      rounds,
      draw,
      pauseMs: PAUSE_MS,
      recoveryMs: RECOVERY_MS,
      otherBinary: BINARY,
      onStep: () => undefined,
    }
    expect((await run(trial)).faults).toEqual([])
  })

  const at = (node: number) => {
    const { server } = office.nodes[node] ?? {}
    if (server === undefined || server === null) throw new Error(`node ${node} does not run`)
    return server
  }

  test('export every metric of a database and a bucket that the dashboard and the alert rules use', async () => {
    const { beyond } = await listAskedMetrics()
    expect(beyond.length).toBeGreaterThan(10)
    const text = await readMetrics(at(0))
    for (const name of beyond) expect(text).toContain(`# TYPE ${name} `)
    expect(text).toContain('\noncebox_nodes 3\n')
  })

  test('count guesses of a passphrase together', async () => {
    const locked = { payload: 'x', passphrase: 'right' }
    const { url_token } = await (await untilTaken(() => at(0).create(locked))).json()
    const guess = (node: number, passphrase: string) =>
      untilTaken(() => at(node).retrieve(url_token, { headers: { 'x-push-passphrase': passphrase } }))
    const wrong = await Promise.all(Array.from({ length: 12 }, (_, n) => guess(n % 3, `wrong ${n}`)))
    expect(wrong.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(5)
    expect((await guess(1, 'right')).status).toBe(429)
  })

  test('create one push from concurrent requests with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const create = (node: number) => untilTaken(() => at(node).create({ payload: 'once' }, headers))
    const answers = await Promise.all([0, 1, 2].map(create))
    for (const { status } of answers) expect([201, 409]).toContain(status)
    const again = await Promise.all([0, 1, 2].map(create))
    const tokens = await Promise.all(again.map(async (answer) => (await answer.json()).url_token))
    expect(new Set(tokens).size).toBe(1)
  })

  test('apply each other’s changes at once: deletions, accounts, tokens', async () => {
    const owned = await untilTaken(() => at(0).create({ payload: 'x' }, office.auth))
    const { url_token } = await owned.json()
    await untilTaken(() => at(1).retrieve(url_token, { method: 'DELETE', headers: office.auth }))
    expect(await (await untilTaken(() => at(2).retrieve(url_token))).json()).toMatchObject({
      deleted: true,
      payload: null,
    })
    await office.command(['user', 'add', 'bob@example.org', '--password-stdin'], 'correct horse battery\n')
    const { stdout } = await office.command(['token', 'create', 'bob@example.org', '--name', 'second'])
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    const list = (node: number) => untilTaken(() => at(node).ask('/api/v2/pushes/active', { headers }))
    const listed = await Promise.all([0, 1, 2].map(list))
    expect(listed.map(({ status }) => status)).toEqual([200, 200, 200])
    await office.command(['token', 'revoke', 'bob@example.org', 'second'])
    const refused = await Promise.all([0, 1, 2].map(list))
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401])
  })

  test('deliver events of one node to clients that wait at another, until the token is revoked', async () => {
    await office.command(['user', 'add', 'carl@example.org', '--password-stdin'], 'correct horse battery\n')
    const { stdout } = await office.command(['token', 'create', 'carl@example.org', '--name', 'watcher'])
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    const poll = async (after: number) => {
      const response = await at(1).ask(`/api/oncebox/events?after=${after}&wait=25`, { headers })
      return { status: response.status, body: (await response.json()) as { events: object[]; next: number } }
    }
    const owned = await untilTaken(() => at(0).create({ payload: 'x' }, headers))
    const { url_token } = await owned.json()
    const waiting = poll(0)
    await untilTaken(() => at(0).retrieve(url_token))
    const { status, body } = await waiting
    expect([status, body.events]).toEqual([200, [expect.objectContaining({ type: 'push.opened' })]])
    const revoked = poll(body.next)
    await office.command(['token', 'revoke', 'carl@example.org', 'watcher'])
    expect((await revoked).status).toBe(401)
  })

  test('are all ready', async () => {
    const answers = await Promise.all([0, 1, 2].map((node) => untilTaken(() => at(node).ask('/readyz'))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})
