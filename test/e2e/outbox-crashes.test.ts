// kill -9 between the commit of an event and its delivery: no event is lost, and a repeated one has the same
// id.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE } from '../../src/domain/time.ts'
import { buildChild } from '../support/built-child.ts'
import { START } from '../support/instance.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhooks.ts'

/** Kills, half of them at each of two moments. */
const ROUNDS = 8

let program = ''
let receiver: WebhookReceiver
let dataDir = ''
/** Whether the receiver leaves requests without an answer. */
let hangs = false
beforeAll(async () => {
  program = await buildChild('outbox-child.ts')
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-outbox-'))
  receiver = await startReceiver(() =>
    hangs ? new Promise<never>(() => undefined) : new Response(null, { status: 204 }),
  )
})
afterAll(() => {
  receiver.close()
  rmSync(dataDir, { recursive: true, force: true })
})

function start(round: number, what: 'tell' | 'drain') {
  const time = String(START + round * MINUTE)
  return Bun.spawn([process.execPath, program, dataDir, time, receiver.host, what], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

async function firstLine(child: ReturnType<typeof start>): Promise<string> {
  let text = ''
  for await (const bytes of child.stdout) {
    text += Buffer.from(bytes).toString()
    if (text.includes('\n')) break
  }
  return text.trim()
}

test(`${ROUNDS} kills lose nothing`, async () => {
  const committed: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = receiver.received.length
    // Every second kill happens between the arrival of a message and its answer.
    hangs = round % 2 === 1
    const child = start(round, 'tell')
    committed.push(await firstLine(child))
    if (hangs) await receiver.waitFor(before + 1)
    child.kill('SIGKILL')
    await child.exited
  }
  hangs = false
  const last = start(ROUNDS, 'drain')
  expect(await firstLine(last)).toBe('empty')
  await last.exited
  const idsOf = new Map<string, Set<string | null>>()
  for (const { body, headers } of receiver.received) {
    const { push } = JSON.parse(body).data
    idsOf.set(push, (idsOf.get(push) ?? new Set()).add(headers.get('webhook-id')))
  }
  expect(committed).toHaveLength(ROUNDS)
  expect(committed.filter((push) => !idsOf.has(push))).toEqual([])
  expect([...idsOf.values()].filter((ids) => ids.size !== 1)).toEqual([])
  expect(new Set([...idsOf.values()].flatMap((ids) => [...ids])).size).toBe(idsOf.size)
  // Deliveries that hung were repeated.
  expect(receiver.received.length).toBeGreaterThan(ROUNDS)
}, 300_000)
