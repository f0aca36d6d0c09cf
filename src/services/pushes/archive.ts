// One ZIP archive of several files, made as it is read: its entries are stored, not compressed, and nothing is kept.

import { makeZip, predictLength } from 'client-zip'
import type { ReadableFile } from './granted-files.ts'

export type Entry = { filename: string; size: number; content: ReadableFile }

/** Bytes of the whole archive, from the sizes and names of its files. */
export function archiveSize(files: readonly { filename: string; size: number }[]): number {
  return Number(predictLength(files.map(({ filename, size }) => ({ name: filename, size }))))
}

/**
 * The bytes of the archive, no faster than they are read. Throws where a file cannot be read, so that an archive that lacks
 * something never has an end. `changedAt` is the time of every entry, in milliseconds since 1970.
 */
export async function* readArchive(entries: readonly Entry[], changedAt: number): AsyncGenerator<Uint8Array> {
  const lastModified = new Date(changedAt)
  const zip = makeZip(
    entries.map(({ filename, size, content }) => ({
      name: filename,
      size,
      lastModified,
      input: content.read({ start: 0, end: size }),
    })),
  ).getReader()
  try {
    for (let next = await zip.read(); !next.done; next = await zip.read()) yield next.value
  } finally {
    await zip.cancel().catch(() => undefined)
  }
}
