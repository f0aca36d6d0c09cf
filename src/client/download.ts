// Files on their way to the disk: into a `.part` beside their place, resumed where they broke off, renamed when whole.

import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { numberedName } from '../domain/received-names.ts'
import { ClientFailure } from './failure.ts'
import { createOwnFile, openOwnFile, sizeOfOwnFile } from './own-files.ts'
import { messageIn, refusalOf, unreachable } from './requests.ts'

export type Download = {
  url: string
  /** Bytes, where the server told. */
  size: number | null
  /** Where what has arrived is kept until it is whole. */
  part: string
}

export type DownloadOptions = {
  userAgent: string
  onProgress: (received: number, total: number | null) => void
  /** Told before it is tried again. */
  onRetry: (problem: string) => void
}

const MAX_FUTILE_TRIES = 5
const IDLE_MS = 60_000
const FIRST_PAUSE_MS = 500

/** Resolves when the part is whole. What has arrived stays when it throws, for another call to go on with. */
export async function downloadPart(download: Download, options: DownloadOptions): Promise<void> {
  let futile = 0
  for (;;) {
    const before = await sizeOfOwnFile(download.part)
    try {
      return await fetchRest(download, before, options)
    } catch (cause) {
      futile = (await sizeOfOwnFile(download.part)) > before ? 1 : futile + 1
      const isFinal = cause instanceof ClientFailure && cause.kind !== 'unavailable'
      if (isFinal || isOfDisk(cause)) throw cause
      if (futile >= MAX_FUTILE_TRIES) throw cause instanceof BrokenOff ? damagedAfter(before) : cause
      options.onRetry(cause instanceof Error ? cause.message : String(cause))
      await Bun.sleep(FIRST_PAUSE_MS * 2 ** (futile - 1))
    }
  }
}

async function fetchRest(
  { url, size, part }: Download,
  from: number,
  options: DownloadOptions,
): Promise<void> {
  const idle = new AbortController()
  const headers: Record<string, string> = { 'user-agent': options.userAgent, 'accept-encoding': 'identity' }
  if (from > 0) headers.range = `bytes=${from}-`
  const response = await fetch(url, { headers, redirect: 'manual', signal: idle.signal }).catch((cause) => {
    throw unreachable(new URL(url).origin, cause)
  })
  if (response.status === 416 && from === size) return response.body?.cancel()
  if (response.status !== 200 && response.status !== 206) throw await refusal(response)
  const start = response.status === 206 ? from : 0
  const received = await append(response, { part, start, total: size, idle, onProgress: options.onProgress })
  if (size !== null && received !== size) {
    throw new ClientFailure(
      received < size ? 'unavailable' : 'failed',
      `${received} of ${size} bytes arrived.`,
    )
  }
}

/** The server answered, and then the connection broke off. */
class BrokenOff extends ClientFailure {}

function damagedAfter(bytes: number): ClientFailure {
  const message = `The file breaks off after ${bytes} bytes at every try: the server may have a damaged copy, and its log tells.`
  return new ClientFailure('failed', message)
}

type Appending = {
  part: string
  start: number
  total: number | null
  idle: AbortController
  onProgress: DownloadOptions['onProgress']
}

/** Returns how many bytes the part has then. */
async function append(
  response: Response,
  { part, start, total, idle, onProgress }: Appending,
): Promise<number> {
  const file = (start > 0 ? await openOwnFile(part) : null) ?? (await createOwnFile(part))
  let at = start
  let timer = setTimeout(() => idle.abort(), IDLE_MS)
  try {
    await file.truncate(start)
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(() => idle.abort(), IDLE_MS)
      await file.write(chunk, 0, chunk.byteLength, at)
      at += chunk.byteLength
      onProgress(at, total)
    }
    await file.sync()
    return at
  } catch (cause) {
    if (isOfDisk(cause)) throw cause
    const failure = unreachable(new URL(response.url).origin, cause)
    throw idle.signal.aborted ? failure : new BrokenOff(failure.kind, failure.message)
  } finally {
    clearTimeout(timer)
    await file.close()
  }
}

async function refusal(response: Response): Promise<ClientFailure> {
  const { status } = response
  const body: unknown = await response.json().catch(() => null)
  const { kind, message } = refusalOf({ status, body })
  const said = messageIn(body) === null ? `The file was not handed out (HTTP ${status}).` : message
  // A grant that is refused has lapsed.
  return new ClientFailure(status < 500 && status !== 429 ? 'gone' : kind, said)
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
    if (codeOf(cause) === 'EEXIST') return false
  }
  return claimNameWithoutLinks(part, path)
}

/** For disks without hard links: takes the name with an empty file, then renames over that. */
async function claimNameWithoutLinks(part: string, path: string): Promise<boolean> {
  try {
    const placeholder = await open(path, 'wx', 0o600)
    await placeholder.close()
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  await rename(part, path)
  return true
}

/** The disk, not the network: trying again does not help. */
function isOfDisk(cause: unknown): boolean {
  return ['ENOSPC', 'EACCES', 'EROFS', 'EIO', 'EFBIG', 'EDQUOT', 'ENOENT', 'ELOOP', 'EISDIR'].includes(
    codeOf(cause),
  )
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
