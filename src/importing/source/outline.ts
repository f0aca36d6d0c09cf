// The numbers of everything that another server holds: its pushes in the order of their creation, and what belongs to each.
//
// They are read first, by primary keys alone, because the old server may have no other index. With them the rows can then
// be read in batches of a known size. They take some 20 bytes for each row: megabytes for a hundred thousand pushes.

import { type ForeignDatabase, readPages } from './foreign-database.ts'
import { parseMicroseconds } from './times.ts'

/** `weight` is about how many bytes its rows have. */
export type Batch = { pushes: PushNumbers[]; weight: number }

/** A push, its audit entries and its attachments, the latter two in the order of their creation. */
export type PushNumbers = { id: number; entries: Float64Array; files: Float64Array }

export type Outline = {
  pushes: number
  /** In the order of creation. A batch holds no more than some megabytes, unless one push alone does. */
  batches(): Generator<Batch>
  /** Only pushes that have a sealed value. */
  sealedBatches(): Generator<Batch>
}

const PAGE = 10_000
const BATCH_WEIGHT = 4 * 1024 * 1024
const BATCH_PUSHES = 500
/** About what a row takes in memory, without what is sealed in it. */
const ROW_WEIGHT = 500

/** `sealed` are the sealed columns of pushes. */
export async function readOutline(database: ForeignDatabase, sealed: readonly string[]): Promise<Outline> {
  const { ids, weights } = await readPushes(database, sealed)
  const places = new Map(ids.map((id, place) => [id, place]))
  const entries = await readOwned(database, places, { table: 'audit_logs', owner: 'push_id' })
  const files = await readOwned(database, places, {
    table: 'active_storage_attachments',
    owner: 'record_id',
    where: `AND record_type = 'Push' AND ${database.dialect.quote('name')} = 'files'`,
  })

  function* batches(least: number): Generator<Batch> {
    let batch: Batch = { pushes: [], weight: 0 }
    for (const [place, id] of ids.entries()) {
      const sealed = weights[place] ?? 0
      if (sealed < least) continue
      const push = { id, entries: entries.of(place), files: files.of(place) }
      const weight = sealed + ROW_WEIGHT * (1 + push.entries.length + push.files.length)
      const isFull = batch.pushes.length === BATCH_PUSHES || batch.weight + weight > BATCH_WEIGHT
      if (isFull && batch.pushes.length > 0) {
        yield batch
        batch = { pushes: [], weight: 0 }
      }
      batch.pushes.push(push)
      batch.weight += weight
    }
    if (batch.pushes.length > 0) yield batch
  }

  return { pushes: ids.length, batches: () => batches(0), sealedBatches: () => batches(1) }
}

/** In the order of creation, with the length of what is sealed in each. */
async function readPushes(database: ForeignDatabase, sealed: readonly string[]) {
  const createdAt = database.dialect.text('pushes.created_at')
  const length = sealed.map((column) => `COALESCE(LENGTH(pushes.${column}), 0)`).join(' + ')
  const columns = `pushes.id AS id, ${createdAt} AS created_at, ${length} AS sealed`
  const ids: number[] = []
  const times: number[] = []
  const lengths: number[] = []
  for await (const page of readPages(database, { table: 'pushes', columns, rows: PAGE }))
    for (const row of page) {
      ids.push(Number(row.id))
      times.push(parseMicroseconds(row.created_at) ?? 0)
      lengths.push(Number(row.sealed))
    }
  // Stable: pushes of the same moment stay in the order of their ids.
  const order = ids.map((_, at) => at).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0))
  const inOrder = (values: number[]) => order.map((at) => values[at] ?? 0)
  return { ids: inOrder(ids), weights: inOrder(lengths) }
}

type Owned = { table: string; owner: string; where?: string }

/** The ids of the rows that belong to each place. */
async function readOwned(
  database: ForeignDatabase,
  places: ReadonlyMap<number, number>,
  { table, owner, where = '' }: Owned,
) {
  const owners: number[] = []
  const ids: number[] = []
  const columns = `${table}.id AS id, ${owner} AS owner`
  for await (const page of readPages(database, { table, columns, where, rows: PAGE }))
    for (const row of page) {
      const place = row.owner === null ? undefined : places.get(Number(row.owner))
      if (place === undefined) continue
      owners.push(place)
      ids.push(Number(row.id))
    }
  return groupByOwner({ owners, ids, size: places.size })
}

/** Sorts by counting, so that ids stay in their order. */
function groupByOwner({ owners, ids, size }: { owners: number[]; ids: number[]; size: number }) {
  const starts = new Uint32Array(size + 1)
  for (const owner of owners) starts[owner + 1] = (starts[owner + 1] ?? 0) + 1
  for (let place = 0; place < size; place += 1)
    starts[place + 1] = (starts[place + 1] ?? 0) + (starts[place] ?? 0)
  const grouped = new Float64Array(ids.length)
  const next = starts.slice()
  for (const [at, owner] of owners.entries()) {
    const free = next[owner] ?? 0
    grouped[free] = ids[at] ?? 0
    next[owner] = free + 1
  }
  return { of: (place: number) => grouped.subarray(starts[place], starts[place + 1]) }
}
