// Generates a ZIP archive of several files while it is read. Entries are not compressed, and the archive is
// not stored.

import type { ReadableFile } from './granted-files.ts'

export type ArchiveEntry = { filename: string; size: number; content: ReadableFile }

/** Sizes and positions from here on need 64 bits (ZIP64). */
const LARGE = 0xffff_ffff
/** The bytes of each record, without names and contents (APPNOTE 6.3.10, 4.3). */
const ENTRY = { header: 30, descriptor: 16, largeDescriptor: 24, listed: 46, largeListed: 28, farListed: 12 }
const END = { small: 22, large: 76 }

/** Returns the bytes of the whole archive, computed from the sizes and names of its files. */
export function archiveSize(files: readonly { filename: string; size: number }[]): number {
  let entries = 0
  let list = END.small
  for (const { filename, size } of files) {
    const name = Buffer.byteLength(filename)
    const isLarge = size >= LARGE
    const farListed = entries >= LARGE ? ENTRY.farListed : 0
    list += ENTRY.listed + name + (isLarge ? ENTRY.largeListed : farListed)
    entries += ENTRY.header + name + size + (isLarge ? ENTRY.largeDescriptor : ENTRY.descriptor)
  }
  const hasLarge = entries >= LARGE || files.some(({ size }) => size >= LARGE)
  return entries + list + (hasLarge ? END.large : 0)
}

/**
 * Generates the archive only as fast as it is read. If a file cannot be read, throws; the archive then lacks
 * its end, so that programs refuse it as incomplete. `changedAt` is the time of every entry, in milliseconds
 * since 1970.
 */
export async function* readArchive(
  entries: readonly ArchiveEntry[],
  changedAt: number,
): AsyncGenerator<Uint8Array> {
  const lastModified = new Date(changedAt)
  // Loaded only when needed, because it takes megabytes of memory.
  const { makeZip } = await import('client-zip')
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
