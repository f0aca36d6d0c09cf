// The load: clients that create, read, download and delete over all nodes while something fails, and a ledger
// to check afterwards.

import { createLedger, type TrackedPush } from '../../src/selftest/ledger.ts'
import type { Draw } from '../../src/selftest/load.ts'
import type { Office } from '../../test/support/nodes.ts'
import { type Answer, type Client, createClient } from './client.ts'

const CLIENTS = 16
const VIEWS = 3
const RECENT = 200
const FILE_BYTES = 40_000

/** `pauseMs`: how long each client pauses after an answer. */
export type Loading = { office: Pick<Office, 'nodes' | 'auth'>; draw: Draw; pauseMs: number }

export type Load = ReturnType<typeof createLoad>

export function createLoad({ office: { nodes, auth }, draw, pauseMs }: Loading) {
  const ledger = createLedger()
  const client = createClient(nodes, ledger.faults)
  const owned = new Set<string>()

  /**
   * Runs clients until the returned function is called, which resolves once each has received its last
   * answer.
   */
  function start(): () => Promise<void> {
    let isOver = false
    const work = async () => {
      // A request without success was already recorded as a fault.
      for (; !isOver; await Bun.sleep(pauseMs)) await act().catch(() => undefined)
    }
    const working = Array.from({ length: CLIENTS }, work)
    return async () => {
      isOver = true
      await Promise.all(working)
    }
  }

  async function act(): Promise<void> {
    const choice = draw(10)
    const recent = [...ledger.known.keys()].slice(-RECENT)
    const urlToken = recent[draw(Math.max(1, recent.length))]
    if (choice < 4 || urlToken === undefined) await write()
    else if (choice < 9) await read(urlToken)
    else await remove(urlToken)
  }

  async function write(): Promise<void> {
    const payload = `${draw(1e9)} ${'x'.repeat(draw(5) === 0 ? 20_000 : draw(50))}`
    const files = draw(8) === 0 ? [{ filename: 'a.bin', data: btoa('f'.repeat(FILE_BYTES)) }] : []
    const isOwned = files.length > 0 || draw(3) === 0
    const push = { payload, expire_after_views: VIEWS, kind: 'text', ...(files.length > 0 ? { files } : {}) }
    // A retry after a lost answer must not create another push.
    const key = { 'idempotency-key': crypto.randomUUID() }
    const { status, body } = await client.create(push, isOwned ? { ...auth, ...key } : key)
    if (status !== 201 || body.url_token === undefined)
      return ledger.blame('new', `create answered ${status} ${JSON.stringify(body)}`)
    ledger.known.set(body.url_token, { payload, views: VIEWS, seen: 0, lost: 0, deleted: 'no' })
    if (isOwned) owned.add(body.url_token)
  }

  async function read(urlToken: string): Promise<void> {
    const push = ledger.known.get(urlToken)
    if (push !== undefined) await retrieve(urlToken, push)
  }

  /** Retrieves a push. Resolves to whether a payload was received. */
  async function retrieve(urlToken: string, push: TrackedPush): Promise<boolean> {
    const wasDeleted = push.deleted === 'yes'
    // Without an answer at all, the view may have been counted.
    push.lost += 1
    const { status, body, lost } = await client.ask(`/api/v2/pushes/${urlToken}`)
    push.lost += lost - 1
    if (status !== 200) {
      ledger.blame(urlToken, `is lost: retrieve answered ${status} ${JSON.stringify(body)}`)
      return false
    }
    if (body.payload === null || body.payload === undefined) return false
    ledger.noteSeen(urlToken, body.payload, wasDeleted)
    for (const { url } of body.files ?? []) await download(urlToken, url)
    return true
  }

  async function download(urlToken: string, url: string): Promise<void> {
    const { status } = await client.ask(client.pathOf(url))
    // Another client may have deleted the push since.
    if (status !== 200 && ledger.known.get(urlToken)?.deleted === 'no')
      ledger.blame(urlToken, `its file is lost (${status})`)
  }

  async function remove(urlToken: string): Promise<void> {
    const push = ledger.known.get(urlToken)
    if (push === undefined) return
    if (push.deleted === 'no') push.deleted = 'perhaps'
    const { status } = await client.ask(`/api/v2/pushes/${urlToken}`, { method: 'DELETE', headers: auth })
    if (status === 200) push.deleted = 'yes'
    else ledger.blame(urlToken, `delete answered ${status}`)
  }

  /** Retrieves up to `most` of the latest pushes until they expire. Resolves to their number. */
  async function check(most: number): Promise<number> {
    const tokens = [...ledger.known.keys()].slice(-most)
    const left = tokens.values()
    const work = async () => {
      for (const urlToken of left) await exhaust(urlToken).catch(() => undefined)
    }
    await Promise.all(Array.from({ length: CLIENTS }, work))
    return tokens.length
  }

  async function exhaust(urlToken: string): Promise<void> {
    const push = ledger.known.get(urlToken)
    if (push === undefined) return
    let payloads = 0
    while (payloads <= VIEWS && (await retrieve(urlToken, push))) payloads += 1
    if (owned.delete(urlToken)) await checkAudit(urlToken, push)
    ledger.noteRest(urlToken, payloads)
  }

  /** Checks that each received payload has a log entry, and that there are no more entries than views. */
  async function checkAudit(urlToken: string, push: TrackedPush): Promise<void> {
    const { body }: Answer = await client.ask(`/api/v2/pushes/${urlToken}/audit`, { headers: auth })
    const entries = (body.logs ?? []).filter(({ kind }) => kind === 'view').length
    if (entries < push.seen || entries > Math.min(push.views, push.seen + push.lost))
      ledger.blame(urlToken, `${entries} views in its audit log for ${push.seen} payloads`)
  }

  return { client, ledger, start, check, faults: ledger.faults }
}

export type LoadClient = Client
