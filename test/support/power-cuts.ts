// Computes what a power cut can leave of a database's files, from the record of disk-recorder.c. A write
// certainly survives if a sync of its file began after it and has returned. Of all other writes anything may
// survive, in pieces of a sector or a page.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { buildPreload } from './preload.ts'

const SOURCE = resolve(import.meta.dir, 'disk-recorder.c')

/** Builds the recorder; null where there is no C compiler. */
export function buildRecorder(folder: string): string | null {
  return buildPreload(SOURCE, folder)
}

/**
 * `of`: what must be synced for the change to survive: the file, or the folder if a file was removed or
 * renamed.
 */
type Change = { path: string; of: string } & (
  | { offset: number; data: Buffer }
  | { size: number }
  | { from: string }
)

export type Event =
  | { kind: 'change'; change: Change }
  | { kind: 'sync begins' | 'sync returns' | 'sync fails'; path: string; sync: number }
  | { kind: 'answer'; text: string }

const HEADER_BYTES = 24
const KINDS = [
  '',
  'write',
  'truncate',
  'remove',
  'sync begins',
  'sync returns',
  'sync fails',
  'answer',
  'rename',
] as const

export function readRecord(path: string): Event[] {
  const bytes = readFileSync(path)
  const events: Event[] = []
  for (let at = 0; at < bytes.length; ) {
    const [kind = 0, sync = 0, pathBytes = 0, dataBytes = 0] = new Uint32Array(
      bytes.buffer.slice(at, at + 16),
    )
    const offset = Number(bytes.readBigUInt64LE(at + 16))
    const name = bytes.toString('utf8', at + HEADER_BYTES, at + HEADER_BYTES + pathBytes)
    const start = at + HEADER_BYTES + pathBytes
    const data = bytes.subarray(start, start + dataBytes)
    at = start + dataBytes
    const word = KINDS[kind]
    if (word === 'write') events.push({ kind: 'change', change: { path: name, of: name, offset, data } })
    else if (word === 'truncate')
      events.push({ kind: 'change', change: { path: name, of: name, size: offset } })
    else if (word === 'remove')
      events.push({ kind: 'change', change: { path: name, of: dirname(name), size: 0 } })
    else if (word === 'rename')
      events.push({ kind: 'change', change: { path: name, of: dirname(name), from: data.toString() } })
    else if (word === 'answer') events.push({ kind: 'answer', text: data.toString() })
    else if (word !== undefined && word !== '') events.push({ kind: word, path: name, sync })
  }
  return events
}

/**
 * A cut: the files that certainly survive, the changes since, of which only those in `synced` certainly
 * survive, and the answers before it.
 */
export type Cut = {
  sure: Map<string, Buffer>
  since: readonly Change[]
  synced: ReadonlySet<Change>
  answers: readonly string[]
}

/** Yields the cuts after each answer and before each return of a sync, and one at the end. */
export function* cuts(events: readonly Event[]): Generator<Cut> {
  const sure = new Map<string, Buffer>()
  let since: Change[] = []
  const synced = new Set<Change>()
  /**
   * Changes that a failed sync should have covered. The system considers them written, so no later sync
   * writes them.
   */
  const lost = new Set<Change>()
  const covered = new Map<number, Change[]>()
  const answers: string[] = []
  for (const event of events) {
    const cut = { sure, since, synced, answers }
    if (event.kind === 'change') since.push(event.change)
    else if (event.kind === 'answer') {
      answers.push(event.text)
      yield cut
    } else if (event.kind === 'sync begins')
      covered.set(
        event.sync,
        since.filter((change) => change.of === event.path && !lost.has(change)),
      )
    else if (event.kind === 'sync fails') for (const change of covered.get(event.sync) ?? []) lost.add(change)
    else {
      yield cut
      for (const change of covered.get(event.sync) ?? []) synced.add(change)
      since = settle(sure, { since, synced, lost })
    }
  }
  yield { sure, since, synced, answers }
}

/**
 * Applies the changes that certainly survive, except to files of which an earlier change may be lost. Returns
 * the other changes.
 */
function settle(
  sure: Map<string, Buffer>,
  { since, synced, lost }: { since: Change[]; synced: Set<Change>; lost: Set<Change> },
): Change[] {
  const doubtful = new Set([...lost].map(({ path }) => path))
  const isSettled = (change: Change) => synced.has(change) && !doubtful.has(change.path)
  const own = new Set<string>()
  for (const change of since) if (isSettled(change)) apply(sure, change, own)
  return since.filter((change) => !isSettled(change))
}

/** Changes the files in `own` in place. Copies all others first, because they belong to other cuts, too. */
function apply(files: Map<string, Buffer>, change: Change, own: Set<string>): void {
  const { path } = change
  const before = files.get(path) ?? Buffer.alloc(0)
  if ('from' in change) {
    files.set(path, files.get(change.from) ?? Buffer.alloc(0))
    files.delete(change.from)
    own.delete(path)
    return
  }
  const size = 'size' in change ? change.size : Math.max(before.length, change.offset + change.data.length)
  if (size !== before.length || !own.has(path)) {
    const after = Buffer.alloc(size)
    before.copy(after)
    files.set(path, after)
    own.add(path)
  }
  if ('data' in change) change.data.copy(files.get(path) ?? before, change.offset)
}

const SECTOR = 512
const PAGE = 4096

/**
 * Yields the files as the cut may have left them: with none, all and each prefix of the uncertain changes,
 * only the last one, and random parts.
 */
export function* leftovers(cut: Cut, parts: number): Generator<Map<string, Buffer>> {
  const count = cut.since.length - cut.since.filter((change) => cut.synced.has(change)).length
  const prefixes = Math.min(count, parts)
  for (let n = 0; n <= prefixes; n += 1) {
    const end = Math.round((n * count) / Math.max(1, prefixes))
    yield leave(cut, (change, at) => (at < end ? [change] : []))
  }
  if (count < 2) return
  yield leave(cut, (change, at) => (at === count - 1 ? [change] : []))
  for (let n = 0; n < parts; n += 1) {
    const size = n % 2 === 0 ? SECTOR : PAGE
    yield leave(cut, (change) => piecesOf(change, size).filter(() => Math.random() < 0.5))
  }
}

/** Asks `keep`, for each uncertain change with its number, what survives of it. */
function leave(
  { sure, since, synced }: Cut,
  keep: (change: Change, at: number) => Change[],
): Map<string, Buffer> {
  const files = new Map(sure)
  const own = new Set<string>()
  let at = 0
  for (const change of since)
    for (const kept of synced.has(change) ? [change] : keep(change, at++)) apply(files, kept, own)
  return files
}

/** Splits a write into pieces that a disk writes atomically. */
function piecesOf(change: Change, size: number): Change[] {
  if (!('data' in change)) return [change]
  const { offset, data } = change
  const pieces: Change[] = []
  for (let at = offset; at < offset + data.length; ) {
    const end = Math.min(offset + data.length, (Math.floor(at / size) + 1) * size)
    pieces.push({ ...change, offset: at, data: data.subarray(at - offset, end - offset) })
    at = end
  }
  return pieces
}

/** A folder for what a test records. */
export function makeRoom(): { room: string; clear: () => void } {
  const room = mkdtempSync(join(tmpdir(), 'oncebox-cuts-'))
  return { room, clear: () => rmSync(room, { recursive: true, force: true }) }
}
