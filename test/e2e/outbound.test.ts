// The server makes no outbound connection unless a setting names the destination.

import { afterAll, expect } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { buildPreload } from '../support/preload.ts'
import { waitUntil } from '../support/waiting.ts'
import { startReceiver } from '../support/webhooks.ts'

const stage = createStage()
afterAll(stage.clear)

const folder = stage.folder()
const recorder = buildPreload(resolve(import.meta.dir, '../support/connect-recorder.c'), folder)

async function startRecorded(name: string, flags: string[]) {
  const record = join(folder, name)
  const server = await stage.start({ flags, env: { LD_PRELOAD: recorder ?? '', RECORD_TO: record } })
  /** Returns the distinct destinations of connections. */
  const places = () =>
    existsSync(record) ? [...new Set(readFileSync(record, 'utf8').trim().split('\n'))] : []
  return { server, places }
}

/**
 * Runs an account's push through its whole life, with every kind of notification turned on.
 */
async function useAll(server: Started, url: string) {
  await server.command(
    ['user', 'add', 'ann@example.org', '--password-stdin'],
    'correct horse battery staple\n',
  )
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  const token = /obx_\w+/.exec(stdout)?.[0] ?? ''
  const authorization = `Bearer ${token}`
  const json = { 'content-type': 'application/json', authorization }
  const body = JSON.stringify({ webhook: { url } })
  const { status } = await server.ask('/api/oncebox/webhooks', { method: 'POST', headers: json, body })
  const made = await server.create({ payload: 'secret', expire_after_views: 1 }, { authorization })
  const { url_token } = (await made.json()) as { url_token: string }
  expect((await server.retrieve(url_token)).status).toBe(200)
  const { events } = (await (
    await server.ask('/api/oncebox/events', { headers: { authorization } })
  ).json()) as { events: object[] }
  expect(events).toHaveLength(2)
  return status
}

needs('cc').test('without settings that name a receiver, no connection is made', async () => {
  const receiver = await startReceiver()
  try {
    const { server, places } = await startRecorded('without', [])
    expect(await useAll(server, receiver.url())).toBe(422)
    // Longer than the interval of the delivery job.
    await Bun.sleep(3_000)
    expect(await server.end()).toBe(0)
    expect(places()).toEqual([])
    expect(receiver.received).toEqual([])
  } finally {
    receiver.close()
  }
})

needs('cc').test('with --webhook-hosts, connections go only to these hosts', async () => {
  const receiver = await startReceiver()
  try {
    const { server, places } = await startRecorded('with', ['--webhook-hosts', receiver.host])
    expect(await useAll(server, receiver.url())).toBe(201)
    await receiver.waitFor(2)
    await waitUntil(() => places().length > 0)
    expect(await server.end()).toBe(0)
    expect(places()).toEqual([receiver.host.replace(':', ' ')])
  } finally {
    receiver.close()
  }
})
