// Files on their way to the disk: into a `.part` beside their place, resumed where they broke off, renamed when whole.

import { link, open, rename, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { numberedName } from '../domain/received-names.ts'
import { codeOf } from '../domain/system-errors.ts'
import type { Dial } from './dial.ts'
import { fetchRest } from './download-part.ts'
import { ClientFailure, UntrueAnswer } from './failure.ts'
import { sizeOfOwnFile } from './own-files.ts'
import { LostAnswer } from './unreachable.ts'

export type Download = {
  url: string
  /** Bytes, where the server told. */
  size: number | null
  /** Where what has arrived is kept until it is whole. */
  part: string
}

export type DownloadOptions = {
  onProgress: (received: number, total: number | null) => void
  /** Told before it is tried again. */
  onRetry: (problem: string) => void
}

export type DownloaderOptions = {
  dial: Dial
  patienceMs: number
  /** The addresses at which a link may be fetched; empty for wherever its host is. Throws when it may not. */
  checkStep: (url: string) => Promise<string[]>
}

const MAX_FUTILE_TRIES = 5
const FIRST_PAUSE_MS = 500
/** A try that brings less is as good as none: a server could go on like that for ever. */
const MIN_GAIN = 16 * 1024

/** Fetches a part until it is whole. What has arrived stays when it throws, for another call to go on with. */
export function createDownloadPart({ dial, patienceMs, checkStep }: DownloaderOptions) {
  return async (download: Download, options: DownloadOptions): Promise<void> => {
    if (!URL.canParse(download.url)) throw new UntrueAnswer('The server gave no link for a file.')
    const addresses = await checkStep(download.url)
    let futile = 0
    for (;;) {
      const from = await sizeOfOwnFile(download.part)
      await requireRoom(download, from)
      const address = addresses[futile % Math.max(1, addresses.length)]
      try {
        return await fetchRest(download, { from, address, dial, patienceMs, onProgress: options.onProgress })
      } catch (cause) {
        futile = (await sizeOfOwnFile(download.part)) - from >= MIN_GAIN ? 1 : futile + 1
        if (cause instanceof UntrueAnswer) await rm(download.part, { force: true })
        if (!(cause instanceof ClientFailure && cause.kind === 'unavailable')) throw cause
        if (futile >= MAX_FUTILE_TRIES) throw cause instanceof LostAnswer ? endless(cause, from) : cause
        options.onRetry(cause.message)
        await Bun.sleep(FIRST_PAUSE_MS * 2 ** (futile - 1))
      }
    }
  }
}

/** A file that breaks off at the same byte again and again is most likely damaged on the server. */
function endless(cause: ClientFailure, from: number): ClientFailure {
  if (from === 0) return cause
  const message = `The file breaks off after ${from} bytes at every try: the server may have a damaged copy, and its log tells.`
  return new ClientFailure('failed', message)
}

async function requireRoom({ size, part }: Download, from: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(part))
  const missing = (size ?? 0) - from - bavail * bsize
  if (missing <= 0) return
  throw new ClientFailure(
    'failed',
    `The file has ${size} bytes, ${missing} more than ${dirname(part)} has room for.`,
  )
}

/** Gives the part its name, or the next one that nothing has yet; returns the path. */
export async function placePart(part: string, wanted: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : join(dirname(wanted), numberedName(basename(wanted), n))
    if (await claimName(part, path)) return path
  }
}

/** Uses link(2), which fails if the name exists, a dangling link included; rename(2) would overwrite it. */
async function claimName(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
    await rm(part)
    return true
  } catch (cause) {
    if (isThere(cause)) return false
  }
  return claimNameWithoutLinks(part, path)
}

/** For disks without hard links: takes the name with an empty file, then renames over that. */
async function claimNameWithoutLinks(part: string, path: string): Promise<boolean> {
  try {
    const placeholder = await open(path, 'wx', 0o600)
    await placeholder.close()
  } catch (cause) {
    if (isThere(cause)) return false
    throw cause
  }
  await rename(part, path)
  return true
}

function isThere(cause: unknown): boolean {
  return codeOf(cause) === 'EEXIST'
}
