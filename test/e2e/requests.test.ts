// Requests through the compiled binary: raced answers, kills, and answers encrypted for an age key as they
// arrive.

import { afterAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { armor, Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { createStage, type Started } from '../support/binary.ts'
import { findNeedles, readTraces } from '../support/needles.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'
import { readZip } from '../support/zip.ts'

const stage = createStage()
afterAll(stage.clear)

const MIB = 1024 * 1024
const REQUESTS = '/api/oncebox/requests'

type Asking = { server: Started; headers: Record<string, string> }

async function addAccount(server: Started): Promise<Asking> {
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery\n')
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  return { server, headers: { authorization: `Bearer ${stdout.trim()}` } }
}

async function ask({ server, headers }: Asking, request: object = {}): Promise<string> {
  const body = JSON.stringify({ request })
  const asked = { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }
  const response = await server.ask(REQUESTS, asked)
  expect(response.status).toBe(201)
  return (await response.json()).url_token
}

const answer = ({ ask }: Started, urlToken: string, payload: string, key = randomUUID()) =>
  ask(`${REQUESTS}/${urlToken}/answers`, {
    method: 'POST',
    body: JSON.stringify({ push: { payload } }),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })

async function listReceived({ server, headers }: Asking, urlToken: string) {
  const active: { request?: string; url_token: string }[] = await (
    await server.ask('/api/v2/pushes/active', { headers })
  ).json()
  return active.filter(({ request }) => request === urlToken)
}

/** Lists the folder of sealed files. */
const listFiles = (dataDir: string) =>
  readdirSync(join(dataDir, 'files'), { recursive: true }).filter((name) => String(name).includes('/'))

test('a request for three answers accepts exactly three of twenty concurrent ones', async () => {
  const asking = await addAccount(await stage.start())
  const urlToken = await ask(asking, { max_answers: 3 })
  const senders = Array.from({ length: 20 }, (_, n) => answer(asking.server, urlToken, `answer ${n}`))
  const statuses = (await Promise.all(senders)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(3)
  expect(statuses.filter((status) => status === 410)).toHaveLength(17)
  expect(await listReceived(asking, urlToken)).toHaveLength(3)
  await asking.server.end()
}, 60_000)

test('a kill loses no acknowledged answer, duplicates no retried one, and never exceeds the limit', async () => {
  let asking = await addAccount(await stage.start())
  const { dataDir } = asking.server
  for (const moment of [15, 40, 80]) {
    const urlToken = await ask(asking, { max_answers: 10 })
    const keys = Array.from({ length: 16 }, () => randomUUID())
    const acknowledged = new Set<number>()
    const sent = keys.map(async (key, n) => {
      const { status } = await untilTaken(() => answer(asking.server, urlToken, `answer ${n}`, key)).catch(
        () => ({ status: 0 }),
      )
      if (status === 201) acknowledged.add(n)
    })
    await Bun.sleep(moment)
    await asking.server.end('SIGKILL')
    await Promise.all(sent)
    asking = { ...asking, server: await stage.start({ dataDir }) }
    const before = await listReceived(asking, urlToken)
    expect(before.length).toBeGreaterThanOrEqual(acknowledged.size)
    for (const n of acknowledged)
      expect((await answer(asking.server, urlToken, `answer ${n}`, keys[n])).status).toBe(201)
    expect(await listReceived(asking, urlToken)).toHaveLength(before.length)
    const again = await Promise.all(keys.map((key, n) => answer(asking.server, urlToken, `answer ${n}`, key)))
    expect(again.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(await listReceived(asking, urlToken)).toHaveLength(10)
  }
  await asking.server.end()
}, 120_000)

test('a kill during an upload leaves nothing of it, and its answer is free again after ten minutes', async () => {
  const asking = await addAccount(await stage.start())
  const { server, headers } = asking
  const { dataDir } = server
  const urlToken = await ask(asking)
  const boundary = 'x'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n`
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.concat([Buffer.from(head), Buffer.alloc(3 * MIB, 7)]))
    },
  })
  const upload = server
    .ask(`${REQUESTS}/${urlToken}/answers`, {
      ...{ method: 'POST', body },
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    })
    .catch(() => null)
  await waitUntil(() => listFiles(dataDir).length > 0)
  expect((await answer(server, urlToken, 'x')).status).toBe(503)
  await server.end('SIGKILL')
  await upload
  const again = await stage.start({ dataDir })
  await waitUntil(() => listFiles(dataDir).length === 0)
  expect((await answer(again, urlToken, 'x')).status).toBe(503)
  const shown = await (await again.ask(`${REQUESTS}/${urlToken}`, { headers })).json()
  expect(shown).toMatchObject({ answers: 0, closed: false })
  await again.end()
}, 60_000)

test('an answer for an age key is stored only encrypted, and a large one needs no more memory', async () => {
  const asking = await addAccount(await stage.start())
  const { server, headers } = asking
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const urlToken = await ask(asking, { recipient })
  const secret = `needle-${randomUUID()}`
  const large = Buffer.alloc(128 * MIB, secret)
  const form = new FormData()
  form.set('push[payload]', secret)
  form.append('push[files][]', new File([large], `${secret}.bin`))
  const resident = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
  const before = resident()
  const sent = await server.ask(`${REQUESTS}/${urlToken}/answers`, { method: 'POST', body: form })
  expect(await sent.text()).toBe('{"received":true}')
  expect(resident() - before).toBeLessThan(96)
  const [push] = await listReceived(asking, urlToken)
  const retrieved = await (await server.ask(`/api/v2/pushes/${push?.url_token}`, { headers })).json()
  expect(findNeedles(readTraces(server), [{ name: 'the secret', bytes: Buffer.from(secret) }])).toEqual([])
  const sealed = await (await server.ask(new URL(retrieved.files[0].url).pathname)).bytes()
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  expect(await decrypter.decrypt(armor.decode(retrieved.payload), 'text')).toBe(secret)
  const [entry] = readZip(Buffer.from(await decrypter.decrypt(sealed)))
  expect(entry?.name).toBe(`${secret}.bin`)
  expect(entry?.content.equals(large)).toBe(true)
  await server.end()
}, 120_000)
