// The table of a release: names, sizes and sums of its files. Every recipe and repository is made from it.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileNameOf, PARTS } from './parts.ts'

export type ReleasedFile = { part: string; name: string; size: number; sha256: string }

export type ReleaseTable = {
  version: string
  /** The time of the release, in seconds. */
  time: number
  /** The URL of the folder to download from, without a slash at the end. */
  base: string
  files: readonly ReleasedFile[]
}

/** A domain that nobody can register (RFC 6761), for recipes of a release whose address is not known yet. */
export const NO_BASE = 'https://download.example'

/** Returns the table of the files that are in the folder. */
export function readTable(
  folder: string,
  { version, ...described }: Omit<ReleaseTable, 'files'>,
): ReleaseTable {
  const files = PARTS.flatMap((part) => {
    const name = fileNameOf(part, version)
    const path = join(folder, name)
    return existsSync(path) ? [{ part, name, size: statSync(path).size, sha256: sumOf(path) }] : []
  })
  return { version, ...described, files }
}

export function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Reads DOWNLOAD_BASE. Throws if it is not an address, because recipes quote it. */
export function parseDownloadBase(given: string | undefined): string {
  if (given === undefined || given === '') return NO_BASE
  const url = URL.parse(given)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (!isPlain || /[\s"'`\\<>{}$@]/.test(given))
    throw new Error(
      `DOWNLOAD_BASE: ${JSON.stringify(given)} is no address such as https://once.example/files`,
    )
  return given.replace(/\/+$/, '')
}
