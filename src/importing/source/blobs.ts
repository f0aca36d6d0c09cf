// The files of another server, unsealed in its `storage` folder, each under its key: `ab/cd/abcd…`.

import { constants, lstatSync, realpathSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type IncomingFile, IncomingProblem } from '../../domain/incoming.ts'
import { codeOf, explainSystemError } from '../../domain/system-errors.ts'

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

/** Opening a pipe or a device must not wait. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** `storage` is the folder; null when none was named. */
export function incomingFile(blob: Blob, storage: string | null): IncomingFile {
  const { filename, contentType, size } = blob
  return {
    filename: filename ?? '',
    contentType: contentType ?? '',
    size: size ?? 0,
    problem: () => find(blob, storage).problem ?? null,
    open: () => read(blob, storage),
  }
}

type Found = { problem: string } | { problem?: undefined; path: string; size: number; checksum: string }

/** Where the file lies, as far as this shows without opening it. */
function find({ key, service, size, checksum }: Blob, storage: string | null): Found {
  if (service !== 'local') {
    const where = JSON.stringify(service)
    return {
      problem: `a file lies on the service ${where}: fetch it first, and set its service_name to local`,
    }
  }
  if (key === null || !KEY.test(key))
    return { problem: 'the key of a file is not one that the old server makes' }
  if (size === null || !checksum)
    return {
      problem:
        'the old server stored no size or no checksum of its file, so nothing shows whether it is whole',
    }
  if (storage === null) return { problem: 'it has files, and no --storage was named' }
  const place = join(key.slice(0, 2), key.slice(2, 4), key)
  try {
    const path = join(realpathSync(storage), place)
    const problem = misfit(lstatSync(path), size) ?? outside(path)
    return problem === null ? { path, size, checksum } : { problem }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT')
      return { problem: `its file ${key.slice(0, 2)}/${key.slice(2, 4)}/… is missing in the storage folder` }
    return { problem: unreadable(cause) }
  }
}

function misfit(found: Stats, size: number): string | null {
  if (!found.isFile()) return 'its file is a link, a folder or a device in the storage folder'
  return found.size === size ? null : 'its file has another size than the old server stored'
}

/** The folder itself may be a link. Below it, a link could lead to any file of this machine. */
function outside(path: string): string | null {
  return realpathSync(path) === path ? null : 'the way to its file in the storage folder leads over a link'
}

async function* read(blob: Blob, storage: string | null): AsyncGenerator<Uint8Array> {
  const found = find(blob, storage)
  if (found.problem !== undefined) throw new IncomingProblem(found.problem)
  const file = await open(found.path, READ).catch(explain)
  try {
    await requireSame(file, found).catch(explain)
    yield* pieces(file, found)
  } finally {
    await file.close()
  }
}

/** Looks at the opened file once more: the one that was found may have been replaced meanwhile. */
async function requireSame(file: FileHandle, { path, size }: { path: string; size: number }): Promise<void> {
  const problem = misfit(await file.stat(), size) ?? outside(path)
  if (problem !== null) throw new IncomingProblem(problem)
}

/** Not a byte beyond the size that was stored, however the file grows. */
async function* pieces(
  file: FileHandle,
  { size, checksum }: { size: number; checksum: string },
): AsyncGenerator<Uint8Array> {
  const digest = new Bun.CryptoHasher('md5')
  for (let left = size; left > 0; ) {
    const { buffer, bytesRead } = await file
      .read(Buffer.allocUnsafe(PIECE), 0, Math.min(left, PIECE))
      .catch(explain)
    if (bytesRead === 0) throw new IncomingProblem('its file ended early: it changes while it is read')
    left -= bytesRead
    const piece = buffer.subarray(0, bytesRead)
    digest.update(piece)
    yield piece
  }
  if (digest.digest('base64') !== checksum)
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
