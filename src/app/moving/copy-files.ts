// Copies sealed files as they are, and reads each one again from where it went.

import { DomainError } from '../../domain/errors.ts'
import { createRelieve } from '../../services/pushes/relief.ts'
import type { OpenedFile, SealedFiles } from '../../store/files-face.ts'
import type { MovingReader } from '../../store/moving-face.ts'
import { batchesOf } from './batches.ts'
import { createFileDigest, digestAt, digestOf, piecesOf, type ReadingOptions } from './file-digests.ts'
import type { MovePorts } from './wish.ts'

export type FilesCopying = {
  /** Of the rows that name the files. */
  reader: Pick<MovingReader, 'readFiles' | 'readRows'>
  source: SealedFiles
  target: SealedFiles
  /** Whether an earlier try may have left a part of a file. */
  isResumed: boolean
  /** Bytes of all files. */
  expected: number
  ports: Pick<MovePorts, 'onProgress' | 'onStep'>
}

/** A row of the source names a file that is not there. */
export class MissingFileError extends DomainError {
  constructor(pushId: number) {
    const remedy = 'Delete that push there, or leave it out with --skip-damaged.'
    super('conflict', `A file of push ${pushId} is missing in the source. ${remedy}`)
  }
}

export type CopiedFiles = { count: number; bytes: number }

/** `pushId` is null for a file that can only be downloaded after a last view, and which may be gone. */
type ToCopy = { id: string; pushId: number | null }

const AT_ONCE = 4

/** Throws `conflict` when a file is missing in the source, or its copy differs from it. */
export async function copyFiles(given: FilesCopying): Promise<CopiedFiles> {
  const { expected, ports } = given
  const copied = { count: 0, bytes: 0 }
  const failures: unknown[] = []
  let passed = 0
  const onCopied = (bytes: number) => {
    // The other files stop at once when one has failed.
    if (failures.length > 0) throw failures[0]
    passed += bytes
    ports.onProgress('files', passed, Math.max(passed, expected))
  }
  const copying: Copying = { ...given, onCopied, relieve: createRelieve(() => Bun.gc(true)) }

  async function copyNext(waiting: ToCopy[]): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const bytes = await copyOne(file, copying)
      if (bytes === null) continue
      copied.count += 1
      copied.bytes += bytes
      ports.onStep('after a file')
    }
  }

  for await (const some of filesOf(given.reader)) {
    const lane = () => copyNext(some).catch((cause) => void failures.push(cause))
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    if (failures.length > 0) throw failures[0]
  }
  return copied
}

type Copying = FilesCopying &
  ReadingOptions & {
    /** Called with the bytes of the source that were copied, or found to be copied. */
    onCopied: (bytes: number) => void
  }

async function* filesOf({ readFiles, readRows }: FilesCopying['reader']): AsyncGenerator<ToCopy[]> {
  for await (const { items } of batchesOf(readFiles)) yield items.map(({ id, pushId }) => ({ id, pushId }))
  for await (const { items } of batchesOf((after) => readRows('filesDue', after))) {
    // Those of no push are only waiting for their removal.
    const granted = items.filter(({ pushId }) => Number(pushId) > 0)
    yield granted.map(({ id }) => ({ id: String(id), pushId: null }))
  }
}

/** Resolves to the bytes of the file; null when it is gone. */
async function copyOne({ id, pushId }: ToCopy, copying: Copying): Promise<number | null> {
  const from = await copying.source.open(id)
  if (from === null) {
    if (pushId === null) return null
    throw new MissingFileError(pushId)
  }
  try {
    if (!(await isCopied(from, id, copying))) await copyWhole(from, { id, pushId }, copying)
    return from.size
  } finally {
    await from.close()
  }
}

/** An earlier try may have copied it. */
async function isCopied(from: OpenedFile, id: string, copying: Copying): Promise<boolean> {
  const there = copying.isResumed ? await digestAt(copying.target, id, copying) : null
  if (there === null) return false
  if (there !== (await digestOf(from, copying))) return false
  copying.onCopied(from.size)
  return true
}

async function copyWhole(from: OpenedFile, { id, pushId }: ToCopy, copying: Copying): Promise<void> {
  const { target, isResumed, onCopied } = copying
  if (isResumed) await target.remove(id)
  const { seen, digest } = createFileDigest(from)

  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of piecesOf(from, copying)) {
      onCopied(piece.length)
      seen(piece)
      yield piece
    }
  }

  await target.put(id, pieces())
  if ((await digestAt(target, id, copying)) !== digest()) throw different(id, pushId)
}

function different(id: string, pushId: number | null): DomainError {
  return new DomainError(
    'conflict',
    `The copy of ${pushId === null ? `the file ${id}` : `a file of push ${pushId}`} is not the same as its source: a disk failed, ` +
      'or the bucket. Nothing was confirmed, and the source still works. Look at the log of the system, then run the same command again.',
  )
}
