// Downloads a file into a `.part` beside its final path, resumes after an interruption, and renames it when
// complete.

import { rm, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { authorityOf } from '../text/web-address.ts'
import { parseJsonBody, readBody, readChunks } from './answer-body.ts'
import type { Dial } from './dial.ts'
import { ClientFailure, LostAnswer, UntrueAnswer } from './failure.ts'
import { createOwnFile, openOwnFile, sizeOfOwnFile } from './own-files.ts'
import { messageIn, refusalOf } from './requests.ts'
import { createWatch, type Watch } from './watch.ts'

type DownloaderOptions = {
  dial: Dial
  patienceMs: number
  /**
   * Resolves to the addresses from which a link may be fetched; to none to resolve its host as usual. Throws
   * if the link must not be followed.
   */
  checkLink: (url: string) => Promise<string[]>
}

const MAX_FUTILE_TRIES = 5
const FIRST_PAUSE_MS = 500
/** An attempt that receives less counts as futile, so a server cannot prolong a download for ever. */
const MIN_GAIN = 16 * 1024

/**
 * Creates a function that downloads into the partial file, with retries, until it is complete. If it throws,
 * the partial file remains, so that a later call can resume.
 */
export function createDownloadPart({ dial, patienceMs, checkLink }: DownloaderOptions) {
  return async (download: FileDownload, options: DownloadOptions): Promise<void> => {
    if (authorityOf(download.url) === null) throw new UntrueAnswer('The server sent no link for a file.')
    const addresses = await checkLink(download.url)
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

/** The maximum size of a file for a program, which gets it as a whole in memory. */
const MAX_HELD_BYTES = 1024 * 1024 * 1024

/** Downloads a file into memory, with retries from its beginning. */
export function createDownloadBytes({ dial, patienceMs, checkLink }: DownloaderOptions) {
  async function fetchWhole({ url, size }: Omit<FileDownload, 'part'>, address: string | undefined) {
    using watch = createWatch(patienceMs)
    const response = await dial(url, { headers: {}, signal: watch.signal, address })
    if (response.status !== 200) throw await refusal(response, { url, watch })
    const maxBytes = Math.min(size ?? MAX_UNANNOUNCED_BYTES, MAX_HELD_BYTES)
    const bytes = await readBody(response, { server: new URL(url).origin, maxBytes, watch })
    if (size === null || bytes.length === size) return bytes
    throw new ClientFailure('unavailable', `${bytes.length} of ${size} bytes arrived.`)
  }

  return async (file: Omit<FileDownload, 'part'>) => {
    if (authorityOf(file.url) === null) throw new UntrueAnswer('The server sent no link for a file.')
    const addresses = await checkLink(file.url)
    for (let futile = 1; ; futile += 1) {
      try {
        return await fetchWhole(file, addresses[futile % Math.max(1, addresses.length)])
      } catch (cause) {
        const isPassing = cause instanceof ClientFailure && cause.kind === 'unavailable'
        if (!isPassing || futile >= MAX_FUTILE_TRIES) throw cause
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

async function requireRoom({ size, part }: FileDownload, from: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(part))
  const missing = (size ?? 0) - from - bavail * bsize
  if (missing <= 0) return
  throw new ClientFailure(
    'failed',
    `The file has ${size} bytes, ${missing} more than are free in ${resolve(dirname(part))}.`,
  )
}

type FileDownload = {
  url: string
  /** The size in bytes; null if the server did not announce it. */
  size: number | null
  /** Path of the partial file. */
  part: string
}

type DownloadOptions = {
  onProgress: (received: number, total: number | null) => void
  /** Called before each retry. */
  onRetry: (problem: string) => void
}

/** `from`: bytes already received. */
type PartRequest = Pick<DownloaderOptions, 'dial' | 'patienceMs'> &
  Pick<DownloadOptions, 'onProgress'> & { from: number; address: string | undefined }

const MAX_REFUSAL_BYTES = 64 * 1024
/** The limit for a file without an announced size, so that it cannot fill the disk. */
const MAX_UNANNOUNCED_BYTES = 256 * 1024 * 1024

/** Resolves when the part is complete. */
async function fetchRest(download: FileDownload, request: PartRequest): Promise<void> {
  const { url, size } = download
  const { from, address, dial, patienceMs } = request
  if (from > 0 && from === size) return
  using watch = createWatch(patienceMs)
  const headers: Record<string, string> =
    from > 0 && from < (size ?? Number.POSITIVE_INFINITY) ? { range: `bytes=${from}-` } : {}
  const response = await dial(url, { headers, signal: watch.signal, address })
  try {
    if (response.status !== 200 && response.status !== 206) throw await refusal(response, { url, watch })
    const start = response.status === 206 ? from : 0
    checkRange(response, { size, start })
    const total = size ?? announcedSize(response, start)
    const received = await append(response, { ...download, ...request, watch, start, total })
    if (total !== null && received < total)
      throw new ClientFailure('unavailable', `${received} of ${total} bytes arrived.`)
  } finally {
    await response.body?.cancel().catch(() => undefined)
  }
}

/** Throws UntrueAnswer if the range was not requested, or if the size is not the announced one. */
function checkRange(
  { status, headers }: Response,
  { size, start }: Pick<FileDownload, 'size'> & { start: number },
): void {
  if (status !== 206) return
  const range = headers.get('content-range')
  const [, first, , whole = '*'] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range ?? `bytes ${start}-0/*`) ?? []
  const isAsked = start > 0 && first !== undefined && Number(first) === start
  const isWhole = whole === '*' || size === null || Number(whole) === size
  if (isAsked && isWhole) return
  throw new UntrueAnswer('The server sent a part of the file that was not requested.')
}

/** Returns null when the server does not announce a size. */
function announcedSize({ headers }: Response, start: number): number | null {
  const whole = Number(headers.get('x-file-size') ?? Number.NaN)
  const rest = Number(headers.get('content-length') ?? Number.NaN)
  const announced = Number.isSafeInteger(whole) ? whole : start + rest
  return Number.isSafeInteger(announced) && announced >= 0 ? announced : null
}

type AppendOptions = FileDownload & PartRequest & { watch: Watch; start: number; total: number | null }

/** Appends the body to the part. Returns the part's size afterwards, in bytes. */
async function append(response: Response, { url, part, start, total, watch, onProgress }: AppendOptions) {
  const most = total ?? MAX_UNANNOUNCED_BYTES
  await using file = (start > 0 ? await openOwnFile(part) : null) ?? (await createOwnFile(part))
  let at = start
  for await (const chunk of readChunks(response, { server: new URL(url).origin, watch })) {
    if (at + chunk.byteLength > most) throw new UntrueAnswer(tooMuch(total))
    await file.write(chunk, 0, chunk.byteLength, at)
    at += chunk.byteLength
    onProgress(at, total)
  }
  await file.sync()
  return at
}

function tooMuch(total: number | null): string {
  return total === null
    ? `The server did not announce the file's size, and sent more than ${MAX_UNANNOUNCED_BYTES} bytes.`
    : `The server sent more than the ${total} bytes that it announced.`
}

async function refusal(
  response: Response,
  { url, watch }: { url: string; watch: Watch },
): Promise<ClientFailure> {
  const { status } = response
  const server = new URL(url).origin
  if (status >= 300 && status < 400)
    return new ClientFailure('failed', `${server} redirects the download, which is not followed.`)
  const bytes = await readBody(response, { server, maxBytes: MAX_REFUSAL_BYTES, watch }).catch(() => null)
  const body = bytes === null ? null : parseJsonBody(bytes)
  const { kind, message } = refusalOf({ status, body })
  const said = messageIn(body) === null ? `The file was not handed out (HTTP ${status}).` : message
  // If a grant is refused, it has expired.
  return new ClientFailure(status < 500 && status !== 429 ? 'gone' : kind, said)
}
