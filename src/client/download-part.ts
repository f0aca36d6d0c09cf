// One request for the rest of a file: what the server announced is what is written, not a byte more.

import { parseJsonBody, readBody } from './answer-body.ts'
import type { Dial } from './dial.ts'
import type { Download, DownloadOptions } from './download.ts'
import { ClientFailure, UntrueAnswer } from './failure.ts'
import { createOwnFile, openOwnFile } from './own-files.ts'
import { messageIn, refusalOf } from './requests.ts'
import { unreachable } from './unreachable.ts'
import { createWatch, type Watch } from './watch.ts'

export type PartRequest = {
  /** Bytes that are there already. */
  from: number
  address: string | undefined
  dial: Dial
  patienceMs: number
  onProgress: DownloadOptions['onProgress']
}

const MAX_REFUSAL_BYTES = 64 * 1024
/** A file whose size nobody tells must not fill the disk. */
const MAX_UNANNOUNCED_BYTES = 256 * 1024 * 1024

/** Resolves when the part is whole. */
export async function fetchRest(download: Download, request: PartRequest): Promise<void> {
  const { from, patienceMs } = request
  if (download.size !== null && from > 0 && from === download.size) return
  const watch = createWatch(patienceMs)
  try {
    await receive(download, { ...request, watch })
  } finally {
    watch.stop()
  }
}

type Receiving = PartRequest & { watch: Watch }

async function receive(download: Download, request: Receiving): Promise<void> {
  const { from, address, dial, watch } = request
  const isRest = from > 0 && from < (download.size ?? Number.POSITIVE_INFINITY)
  const headers: Record<string, string> = isRest ? { range: `bytes=${from}-` } : {}
  const response = await dial(download.url, { headers, signal: watch.signal, address })
  if (response.status !== 200 && response.status !== 206) throw await refusal(response, { download, watch })
  const start = response.status === 206 ? from : 0
  try {
    checkRange(response, { download, start })
    const total = download.size ?? announcedSize(response, start)
    const received = await append(response, { download, request, start, total })
    if (total !== null && received < total) {
      throw new ClientFailure('unavailable', `${received} of ${total} bytes arrived.`)
    }
  } finally {
    await response.body?.cancel().catch(() => undefined)
  }
}

/** Throws UntrueAnswer for another piece of the file than was asked for, or one of another size than was announced. */
function checkRange(
  { status, headers }: Response,
  { download, start }: { download: Download; start: number },
): void {
  if (status !== 206) return
  const range = headers.get('content-range')
  const [, first, , whole = '*'] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range ?? `bytes ${start}-0/*`) ?? []
  const isAsked = start > 0 && first !== undefined && Number(first) === start
  const isWhole = whole === '*' || download.size === null || Number(whole) === download.size
  if (isAsked && isWhole) return
  throw new UntrueAnswer('The server sent another part of the file than was asked for.')
}

/** Null when the server does not tell. */
function announcedSize({ headers }: Response, start: number): number | null {
  const whole = Number(headers.get('x-file-size') ?? Number.NaN)
  const rest = Number(headers.get('content-length') ?? Number.NaN)
  const announced = Number.isSafeInteger(whole) ? whole : start + rest
  return Number.isSafeInteger(announced) && announced >= 0 ? announced : null
}

type Appending = { download: Download; request: Receiving; start: number; total: number | null }

/** Returns how many bytes the part has then. */
async function append(response: Response, { download, request, start, total }: Appending): Promise<number> {
  const { watch, onProgress } = request
  const file = (start > 0 ? await openOwnFile(download.part) : null) ?? (await createOwnFile(download.part))
  let at = start
  try {
    for await (const chunk of chunksOf(response, download)) {
      watch.count(chunk.byteLength)
      if (at + chunk.byteLength > (total ?? MAX_UNANNOUNCED_BYTES)) throw tooMuch(total)
      await file.write(chunk, 0, chunk.byteLength, at)
      at += chunk.byteLength
      onProgress(at, total)
    }
    await file.sync()
    return at
  } finally {
    await file.close()
  }
}

/** What goes wrong on the network is thrown as ClientFailure, apart from what goes wrong on the disk. */
async function* chunksOf(response: Response, { url }: Download): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) yield chunk
  } catch (cause) {
    throw unreachable(new URL(url).origin, cause)
  }
}

function tooMuch(total: number | null): UntrueAnswer {
  const announced =
    total === null
      ? `The server does not tell how large the file is, and sends more than ${MAX_UNANNOUNCED_BYTES} bytes.`
      : `The server sends more than the ${total} bytes that it announced.`
  return new UntrueAnswer(announced)
}

type Refused = { download: Download; watch: Watch }

async function refusal(response: Response, { download, watch }: Refused): Promise<ClientFailure> {
  const { status } = response
  const server = new URL(download.url).origin
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    return new ClientFailure('failed', `${server} sends to another address for the file: not followed.`)
  }
  const bytes = await readBody(response, { server, maxBytes: MAX_REFUSAL_BYTES, watch }).catch(() => null)
  const body = bytes === null ? null : parseJsonBody(bytes)
  const { kind, message } = refusalOf({ status, body })
  const said = messageIn(body) === null ? `The file was not handed out (HTTP ${status}).` : message
  // A grant that is refused has lapsed.
  return new ClientFailure(status < 500 && status !== 429 ? 'gone' : kind, said)
}
