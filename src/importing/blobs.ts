// The files of another server, unsealed in its `storage` folder, each under its key: `ab/cd/abcd…`.

import { constants, lstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type IncomingFile, IncomingProblem } from '../domain/incoming.ts'
import { codeOf, explainSystemError } from '../domain/system-errors.ts'

/** As it stands in the table; null where there was none. */
export type Blob = {
  key: string | null
  filename: string | null
  contentType: string | null
  size: number | null
  /** base64 of the MD5 of the content. */
  checksum: string | null
  service: string | null
}

/** Keys are letters and digits. Anything else could lead out of the folder. */
const KEY = /^[A-Za-z0-9]{4,255}$/
const PIECE = 256 * 1024

/** `storage` is the folder; null when none was named. */
export function incomingFile(blob: Blob, storage: string | null): IncomingFile {
  const { filename, contentType, size } = blob
  const path = pathOf(blob, storage)
  return {
    filename: filename ?? '',
    contentType: contentType ?? '',
    size: size ?? 0,
    problem: () => problemOf(blob, path),
    open: () => read(blob, path),
  }
}

function pathOf({ key }: Blob, storage: string | null): string | null {
  if (storage === null || key === null || !KEY.test(key)) return null
  return join(storage, key.slice(0, 2), key.slice(2, 4), key)
}

function problemOf({ key, service, size }: Blob, path: string | null): string | null {
  if (service !== 'local') {
    const where = JSON.stringify(service)
    return `a file lies on the service ${where}: fetch it first, and set its service_name to local`
  }
  if (key === null || !KEY.test(key)) return 'the key of a file is not one that the old server makes'
  if (path === null) return 'it has files, and no --storage was named'
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined)
      return `its file ${key.slice(0, 2)}/${key.slice(2, 4)}/… is missing in the storage folder`
    if (!found.isFile()) return 'its file is a link or a folder in the storage folder'
    return found.size === size ? null : 'its file has another size than the old server stored'
  } catch (cause) {
    return unreadable(cause)
  }
}

/** Never follows a link at the end of the path. */
async function* read(blob: Blob, path: string | null): AsyncGenerator<Uint8Array> {
  const problem = problemOf(blob, path)
  if (problem !== null || path === null) throw new IncomingProblem(problem ?? 'a file is missing')
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(explain)
  try {
    yield* pieces(file, blob)
  } finally {
    await file.close()
  }
}

async function* pieces(file: FileHandle, { checksum }: Blob): AsyncGenerator<Uint8Array> {
  const digest = new Bun.CryptoHasher('md5')
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE).catch(explain)
    if (bytesRead === 0) break
    const piece = buffer.subarray(0, bytesRead)
    digest.update(piece)
    yield piece
  }
  if (checksum !== null && digest.digest('base64') !== checksum)
    throw new IncomingProblem('its file is damaged: it has another checksum than the old server stored')
}

function explain(cause: unknown): never {
  throw new IncomingProblem(unreadable(cause))
}

/** Throws what is no error of the system. */
function unreadable(cause: unknown): string {
  if (!(cause instanceof Error) || codeOf(cause) === '') throw cause
  return `its file cannot be read: ${explainSystemError(cause) ?? cause.message}`
}
