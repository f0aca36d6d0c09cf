// The content of a copy: the rows of all tables, whose values are the same in every engine, and the sealed
// files.

import { createHash } from 'node:crypto'
import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { sealedSize } from '../../crypto/sealed-stream.ts'
import { nameBucket } from '../../domain/bucket-place.ts'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { formatTime } from '../../domain/time.ts'
import { printableLine } from '../../text/printable.ts'
import { createDiskFiles } from '../files/disk.ts'
import type { OpenedFile, SealedFiles } from '../files-contract.ts'
import { readClockMark, writeClockMark } from '../instance.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import { addWhole, type RowOf, select, statement } from '../statements.ts'
import { first, type Run, type Step, type Steps } from '../steps.ts'
import * as tables from '../tables.ts'
import { slicesOf } from './all-rows.ts'

/** Called for every slice of rows and every file. Throttle before printing. */
export type OnCopyProgress = (what: string, done: number) => void

const READ_BYTES = 1024 * 1024
/** Tables that are not copied, because each end has its own. */
const OWN: readonly SQLiteTable[] = [
  tables.instance,
  tables.home,
  tables.bucketFolder,
  tables.pushLinks,
  tables.linksFiled,
]
const TABLES = Object.values<SQLiteTable>(tables).filter((table) => !OWN.includes(table))
export const TABLE_NAMES: readonly string[] = TABLES.map(getTableName)

/** Copies the rows of all tables. Returns the number of each, counted again at the target. */
export async function copyRows(
  read: Run,
  put: Run,
  { places, onProgress }: CopyingFiles,
): Promise<Record<string, number>> {
  await put(writeClockMark(await read(readClockMark())))
  if (places?.row) await put(addWhole(tables.bucketFolder)(places.row))
  const copied: Record<string, number> = {}
  for (const table of TABLES) {
    const name = getTableName(table)
    const add = addWhole(table)
    let done = 0
    for await (const rows of slicesOf(table, (step) => read(step()))) {
      await put(each(rows, add))
      done += rows.length
      onProgress(`rows of ${name}`, done)
    }
    const count = statement<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`)
    const there = (await put(first(count)))?.rows
    if (there !== done) throw conflict(`Of ${done} rows of ${name} there are ${there}.`)
    copied[name] = done
  }
  return copied
}

function* each<T>(items: readonly T[], step: (item: T) => Step<unknown>): Step<void> {
  for (const item of items) yield* step(item)
}

/**
 * Lists the files of live pushes, and those that can still be downloaded after a last view. `size` counts
 * plain bytes; null if no row records it.
 */
async function* neededFiles(read: Run, now: number) {
  const readStep: Steps['read'] = (step) => read(step())
  for await (const rows of slicesOf(tables.pushFiles, readStep))
    for (const { fileId, size, pushId } of rows) yield { id: fileId, size, pushId }
  for await (const rows of slicesOf(tables.filesDue, readStep))
    for (const { id, at, pushId } of rows) if (pushId && (at ?? 0) > now) yield { id, size: null, pushId }
}

export type PlacesOptions = {
  /** Whether PostgreSQL is the target. */
  toServer: boolean
  /** The path of the folder with the files. */
  path: string
  /** The bucket of PostgreSQL. */
  bucket: BucketOptions | null
  onWarning: (warning: string) => void
}

/**
 * `row` describes the new location in the target. `from` and `to` are the same when files stay in their
 * bucket.
 */
export type Places = { from: SealedFiles; to: SealedFiles; row: RowOf<typeof tables.bucketFolder> | null }

/**
 * Returns null if it is unknown where PostgreSQL's files are. Throws `conflict` if the source has its files
 * in another bucket.
 */
export async function findPlaces(read: Run, options: PlacesOptions): Promise<Places | null> {
  const { toServer, path, bucket, onWarning } = options
  const row = await read(first(select(tables.bucketFolder, '')))
  const name = bucket && nameBucket(bucket.place)
  if (row?.isBucket && row.mark !== name)
    throw conflict(`The files are in ${printableLine(row.address)}: name it with --files-url.`)
  if (row === null || bucket === null || name === null || !(toServer || row.isBucket)) return null
  const { files } = openBucket({ ...bucket, tag: row.tag, onWarning })
  if (!toServer) return { from: files, to: createDiskFiles(path), row: null }
  const place = { ...row, isBucket: true, mark: name, address: `the bucket ${name}` }
  return { from: row.isBucket ? files : createDiskFiles(path), to: files, row: place }
}

type CopyingFiles = { places: Places | null; now: number; onProgress: OnCopyProgress }

/**
 * Copies the files one by one. Throws `conflict`, naming the file, if it is damaged at the source or differs
 * at the target.
 */
export async function copyFiles(read: Run, { places, now, onProgress }: CopyingFiles): Promise<number> {
  let done = 0
  for await (const { id, size, pushId } of neededFiles(read, now)) {
    if (places === null) throw conflict(NO_PLACE)
    const { from, to } = places
    const opened = await from.open(id)
    try {
      const isWhole = opened !== null && (size === null || opened.size === sealedSize(size))
      if (!isWhole) throw await damaged(read, id, pushId)
      if (from !== to) await copyFile(id, opened, to)
    } finally {
      await opened?.close()
    }
    done += 1
    onProgress('files', done)
  }
  return done
}

const NO_PLACE =
  'Live pushes have files, which PostgreSQL keeps in a bucket: name it with --files-url. What is on the disk of a node cannot be copied: let ' +
  'those pushes end first.'
const PUSH = select(tables.pushes, 'WHERE id = $1')

async function damaged(read: Run, id: string, pushId: number): Promise<DomainError> {
  const end = formatTime((await read(first(PUSH, pushId)))?.expiresAt ?? 0)
  const remedy = `Put it back, or let its push end first (${end}, or when somebody expires it).`
  return conflict(`The file ${id} is missing, or not as long as it was. ${remedy}`)
}

/** Copies one file, replacing a leftover of an earlier, failed copy. */
async function copyFile(id: string, opened: OpenedFile, to: SealedFiles): Promise<void> {
  const [sent, found] = [createHash('sha256'), createHash('sha256')]
  await to.remove(id)
  await to.put(id, hashed(opened, sent))
  const copy = await to.open(id)
  try {
    if (copy !== null) for await (const _ of hashed(copy, found));
  } finally {
    await copy?.close()
  }
  if (sent.digest('hex') !== found.digest('hex'))
    throw conflict(`The file ${id} does not hold what was written to it.`)
}

async function* hashed(file: OpenedFile, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += READ_BYTES) {
    const bytes = await file.read({ start, length: Math.min(READ_BYTES, file.size - start) })
    hash.update(bytes)
    yield bytes
  }
}
