// Reads both stores again after a copy, row by row, and compares them. Sealed values are compared as they are: equal
// ciphertexts under an equal key open alike.

import { createDigest } from '../../crypto/digest.ts'
import { DomainError } from '../../domain/errors.ts'
import { TABLE_NAMES } from '../../store/moving/tables.ts'
import type { Batch, MovingKey, MovingPush, MovingReader, MovingRow } from '../../store/moving-face.ts'
import { batchesOf } from './batches.ts'

export type Stores = { source: MovingReader; target: MovingReader }

/** Of each table: how many rows were compared, and the SHA-256 of them all, which is the same on both sides. */
export type Compared = Readonly<Record<string, { rows: number; sha256: string }>>

/** `damaged`: places of rows that are damaged in the source, and not in the target. */
export type Comparison = { compared: Compared; damaged: string[] }

/** Throws `conflict`, naming the first row that is not the same on both sides. */
export async function compareStores(
  { source, target }: Stores,
  onProgress: (pushes: number) => void,
): Promise<Comparison> {
  const compared: Record<string, { rows: number; sha256: string }> = {}
  const damaged: string[] = []
  // What is damaged in the source was left out; in a copy nothing may be.
  const onDamagedOf = (reader: MovingReader) => (places: readonly string[]) => {
    if (reader === source) damaged.push(...places)
    else if (places[0] !== undefined) throw different(places[0])
  }
  for (const table of TABLE_NAMES) {
    const rowsOf = (reader: MovingReader) =>
      itemsOf((after) => reader.readRows(table, after), onDamagedOf(reader))
    compared[table] = await compareItems([rowsOf(source), rowsOf(target)], {
      digest: digestOfRow,
      name: (row, n) => `${table} ${typeof row.id === 'number' ? row.id : `(row ${n})`}`,
    })
  }
  const pushesOf = (reader: MovingReader) => itemsOf(reader.readPushes, onDamagedOf(reader))
  compared.pushes = await compareItems([pushesOf(source), pushesOf(target)], {
    digest: digestOfPush,
    name: ({ push }) => `push ${push.id}`,
    onProgress,
  })
  const [facts, others] = [await source.readFacts(), await target.readFacts()]
  if (JSON.stringify(facts) !== JSON.stringify(others))
    throw different('the time at which it was last in use')
  return { compared, damaged }
}

async function* itemsOf<Item>(
  read: (after: MovingKey | null) => Promise<Batch<Item>>,
  onDamaged: (places: readonly string[]) => void,
): AsyncGenerator<readonly Item[]> {
  for await (const batch of batchesOf(read)) {
    onDamaged(batch.damaged)
    yield batch.items
  }
}

type Comparing<Item> = {
  digest: (item: Item) => string
  name: (item: Item, n: number) => string
  onProgress?: (done: number) => void
}

/** The batches of the two sides may have other sizes. */
async function compareItems<Item>(
  sides: [AsyncGenerator<readonly Item[]>, AsyncGenerator<readonly Item[]>],
  { digest, name, onProgress = () => undefined }: Comparing<Item>,
): Promise<{ rows: number; sha256: string }> {
  const all = createDigest()
  const [source, target] = [createQueue(sides[0]), createQueue(sides[1])]
  for (let rows = 0; ; rows += 1) {
    const [one, other] = [await source(), await target()]
    if (one === undefined) {
      if (other === undefined) return { rows, sha256: all.hex() }
      throw different(name(other, rows))
    }
    const found = digest(one)
    if (other === undefined || found !== digest(other)) throw different(name(one, rows))
    all.update(Buffer.from(found))
    if (rows % 1_000 === 0) onProgress(rows)
  }
}

type Queue<Item> = () => Item | undefined | Promise<Item | undefined>

/** One item after another; undefined at the end. */
function createQueue<Item>(batches: AsyncGenerator<readonly Item[]>): Queue<Item> {
  let batch: readonly Item[] = []
  let at = 0
  async function refill(): Promise<Item | undefined> {
    for (;;) {
      const { value, done } = await batches.next()
      if (done) return undefined
      batch = value
      at = 0
      if (batch.length > 0) return batch[at++]
    }
  }
  return () => (at < batch.length ? batch[at++] : refill())
}

function digestOfRow(row: MovingRow): string {
  return digestOfRows([row])
}

function digestOfPush({ push, secrets, labels, share, files, entries }: MovingPush): string {
  return digestOfRows([push, secrets, labels, share, ...files, ...entries])
}

/** Unambiguous: the text says how many bytes each value has that follows it. */
function digestOfRows(rows: readonly (MovingRow | null)[]): string {
  const digest = createDigest()
  const bytes: Uint8Array[] = []
  const described = rows.map((row) =>
    row === null
      ? null
      : Object.values(row).map((value) => {
          if (!(value instanceof Uint8Array)) return value
          bytes.push(value)
          return { bytes: value.length }
        }),
  )
  digest.update(Buffer.from(JSON.stringify(described)))
  for (const value of bytes) digest.update(value)
  return digest.hex()
}

function different(place: string): DomainError {
  return new DomainError(
    'conflict',
    `The copy is not the same as its source: ${place} differs. The source was used meanwhile, or a disk failed. Nothing was ` +
      'confirmed, and the source still works: run the same command again, which copies everything anew.',
  )
}
