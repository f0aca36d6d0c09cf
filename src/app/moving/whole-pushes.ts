// A reader that counts pushes as damaged whose files are missing, as a server does.

import type { SealedFiles } from '../../store/files-face.ts'
import type { Batch, MovingKey, MovingPush, MovingReader } from '../../store/moving-face.ts'

const AT_ONCE = 8

export function requireFiles(reader: MovingReader, files: Pick<SealedFiles, 'has'>): MovingReader {
  async function readPushes(after: MovingKey | null): Promise<Batch<MovingPush>> {
    const batch = await reader.readPushes(after)
    const waiting = batch.items.filter((push) => push.files.length > 0)
    const missing = new Set<MovingPush>()
    const lane = async () => {
      for (let push = waiting.pop(); push !== undefined; push = waiting.pop())
        if (!(await hasAll(push))) missing.add(push)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    if (missing.size === 0) return batch
    return {
      ...batch,
      items: batch.items.filter((push) => !missing.has(push)),
      damaged: [...batch.damaged, ...[...missing].map(({ push }) => `a file of push ${push.id}`)],
    }
  }

  async function hasAll(push: MovingPush): Promise<boolean> {
    for (const { fileId, size } of push.files)
      if (!(await files.has({ id: String(fileId), size: Number(size) }))) return false
    return true
  }

  return { ...reader, readPushes }
}
