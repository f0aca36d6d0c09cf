// Reads what an end of a move gives in batches, one after another.

import type { MovingKey } from '../../store/moving-face.ts'

/** Every batch that comes after the row `after`; null begins with the first. */
export async function* batchesOf<Batch extends { next: MovingKey | null }>(
  read: (after: MovingKey | null) => Promise<Batch>,
  after: MovingKey | null = null,
): AsyncGenerator<Batch> {
  for (let last = after; ; ) {
    const batch = await read(last)
    yield batch
    if (batch.next === null) return
    last = batch.next
  }
}
