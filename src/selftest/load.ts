// Clients that create, read and delete until the server is killed, and then check the remaining pushes.

import type { Ledger } from './ledger.ts'
import type { Server } from './server.ts'

const CLIENTS = 16
const VIEWS = 3
const RECENT = 200

/** Seeded pseudo-random numbers for tests; not for secrets. */
export type Draw = (below: number) => number

export function createDraw(seed: number): Draw {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

export type Load = {
  server: Server
  ledger: Ledger
  draw: Draw
  /** A marker text in every payload, to search the disk for plaintext. */
  mark: string
  /** Headers for requests that need an account. */
  auth: Record<string, string>
}

type Answer = { url_token: string; payload: string | null; files: { url: string }[] }

/** Resolves to the number of responses received before the server stopped answering. */
export async function runLoad(load: Load, stop: () => boolean): Promise<number> {
  let answers = 0
  const client = async () => {
    for (; !stop(); answers += 1) await act(load)
  }
  // A client stops when the server is killed. By then the ledger has counted the lost responses.
  await Promise.allSettled(Array.from({ length: CLIENTS }, client))
  return answers
}

async function act(load: Load): Promise<void> {
  const { ledger, draw } = load
  const choice = draw(10)
  const recent = [...ledger.known.keys()].slice(-RECENT)
  const urlToken = recent[draw(recent.length)]
  if (choice < 4 || urlToken === undefined) await write(load)
  else if (choice < 9) await read(load, urlToken)
  else await remove(load, urlToken)
}

async function write({ server, ledger, draw, mark, auth }: Load): Promise<void> {
  const payload = `${mark} ${draw(1e9)} ${'x'.repeat(draw(5) === 0 ? 20_000 : draw(50))}`
  const files = draw(6) === 0 ? [{ filename: `${mark}.bin`, data: btoa(payload.repeat(1 + draw(3))) }] : []
  const push = { payload, expire_after_views: VIEWS, kind: 'text', ...(files.length > 0 ? { files } : {}) }
  const response = await server.create(push, files.length > 0 ? auth : {})
  const { url_token }: Answer = await response.json()
  if (response.status !== 201) return ledger.blame('new', `create answered ${response.status}`)
  ledger.known.set(url_token, { payload, views: VIEWS, seen: 0, lost: 0, deleted: 'no' })
}

async function read({ server, ledger }: Load, urlToken: string): Promise<void> {
  const push = ledger.known.get(urlToken)
  if (push === undefined) return
  push.lost += 1
  const wasDeleted = push.deleted === 'yes'
  const response = await server.retrieve(urlToken)
  const { payload }: Answer = await response.json()
  push.lost -= 1
  if (response.status !== 200) ledger.blame(urlToken, `retrieve answered ${response.status}`)
  else if (payload !== null) ledger.noteSeen(urlToken, payload, wasDeleted)
}

async function remove({ server, ledger }: Load, urlToken: string): Promise<void> {
  const push = ledger.known.get(urlToken)
  if (push === undefined) return
  if (push.deleted === 'no') push.deleted = 'perhaps'
  const { status } = await server.retrieve(urlToken, { method: 'DELETE' })
  if (status === 200) push.deleted = 'yes'
  else if (status !== 401) ledger.blame(urlToken, `delete answered ${status}`)
}

/** Retrieves up to `most` of the latest pushes until they expire; resolves to their number. */
export async function checkRest(load: Load, most: number): Promise<number> {
  const tokens = [...load.ledger.known.keys()].slice(-most)
  const rest = tokens.values()
  const client = async () => {
    for (const urlToken of rest) await exhaust(load, urlToken)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return tokens.length
}

async function exhaust({ server, ledger }: Load, urlToken: string): Promise<void> {
  let payloads = 0
  for (let tries = 0; tries <= VIEWS; tries += 1) {
    const response = await server.retrieve(urlToken)
    const { payload, files }: Answer = await response.json()
    if (response.status !== 200) ledger.blame(urlToken, `is lost: retrieve answered ${response.status}`)
    if (response.status !== 200 || payload === null) break
    payloads += 1
    ledger.noteSeen(urlToken, payload, ledger.known.get(urlToken)?.deleted === 'yes')
    for (const { url } of files) {
      const download = await server.ask(new URL(url).pathname)
      await download.arrayBuffer()
      if (download.status !== 200) ledger.blame(urlToken, `its file is lost (${download.status})`)
    }
  }
  ledger.noteRest(urlToken, payloads)
}
