// Downloads a file into a `.part` beside its final path, resumes after an interruption, and renames it when complete.

import { rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { numberedName } from '../domain/received-names.ts'
import { authorityOf } from '../domain/web-address.ts'
import { claimName } from './claim-name.ts'
import type { Dial } from './dial.ts'
import { type Download, type DownloadOptions, fetchRest } from './download-part.ts'
import { ClientFailure, UntrueAnswer } from './failure.ts'
import { sizeOfOwnFile } from './own-files.ts'
import { LostAnswer } from './unreachable.ts'

export type DownloaderOptions = {
  dial: Dial
  patienceMs: number
  /** The addresses at which a link may be fetched; empty to resolve its host as usual. Throws if none is allowed. */
  checkStep: (url: string) => Promise<string[]>
}

const MAX_FUTILE_TRIES = 5
const FIRST_PAUSE_MS = 500
/** A try that receives less counts as futile, so that a server cannot prolong a download for ever. */
const MIN_GAIN = 16 * 1024

/** Fetches a part until it is complete. When it throws, the partial file stays so that a later call can resume. */
export function createDownloadPart({ dial, patienceMs, checkStep }: DownloaderOptions) {
  return async (download: Download, options: DownloadOptions): Promise<void> => {
    if (authorityOf(download.url) === null) throw new UntrueAnswer('The server sent no link for a file.')
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

/** A file that repeatedly breaks off at the same byte is most likely damaged on the server. */
function endless(cause: ClientFailure, from: number): ClientFailure {
  if (from === 0) return cause
  const message = `Every try broke off after ${from} bytes. The server's copy may be damaged; see its log.`
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

/** Renames the part to `wanted` or to the next free numbered name; returns the path. */
export async function placePart(part: string, wanted: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : join(dirname(wanted), numberedName(basename(wanted), n))
    if (await claimName(part, path)) return path
  }
}
