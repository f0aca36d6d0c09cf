// The files of another server, unsealed in its `storage` folder, each under its key: `ab/cd/abcd…`.

import { constants, realpathSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { type FileToImport, IncomingProblem } from '../incoming.ts'

/** A row of the table; a missing text is ''. */
export type Blob = {
  key: string
  filename: string
  contentType: string
  size: number | null
  /** The MD5 of the content in base64. */
  checksum: string
  service: string
}

/** The format of a key. Anything else could be a path out of the folder. */
const KEY = /^[A-Za-z0-9]{4,255}$/
const PIECE = 256 * 1024

/** Flags with which opening a pipe or a device does not block. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Makes a file to import. `storage` is the folder of the files; null if the operator named none. */
export function incomingFile(blob: Blob, storage: string | null): FileToImport {
  const { filename, contentType, size } = blob
  return { filename, contentType, size: size ?? 0, open: () => read(blob, storage) }
}

async function* read(
  { key, service, size, checksum }: Blob,
  storage: string | null,
): AsyncGenerator<Uint8Array> {
  if (service !== 'local')
    throw new IncomingProblem(
      `a file lies on the service ${JSON.stringify(service)}: fetch it first, and set its service_name to local`,
    )
  if (!KEY.test(key)) throw new IncomingProblem('the key of a file is not one that the old server makes')
  if (size === null || checksum === '')
    throw new IncomingProblem(
      'the old server stored no size or no checksum of its file, so nothing shows whether it is whole',
    )
  if (storage === null) throw new IncomingProblem('it has files, and no --storage was named')
  await using file = await openIn(storage, join(key.slice(0, 2), key.slice(2, 4), key)).catch(explain)
  const found = await file.stat()
  if (!found.isFile()) throw new IncomingProblem('its file is a folder or a device in the storage folder')
  if (found.size !== size) throw new IncomingProblem('its file has another size than the old server stored')
  yield* pieces(file, { size, checksum })
}

/**
 * Opens a file below the folder. The folder itself may be a symlink, but not a folder below it, which could
 * point to any file.
 */
async function openIn(storage: string, place: string): Promise<FileHandle> {
  const path = join(realpathSync(storage), place)
  if (realpathSync(path) === path) return open(path, READ)
  throw new IncomingProblem('the way to its file in the storage folder leads over a link')
}

/** Reads at most `size` bytes, even if the file grows. */
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

/** Explains an error of the system. Rethrows any other cause unchanged. */
function explain(cause: unknown): never {
  const code = codeOf(cause)
  if (code === '') throw cause
  throw new IncomingProblem(
    code === 'ENOENT'
      ? 'its file is missing in the storage folder'
      : `its file cannot be read: ${reasonOf(cause)}`,
  )
}
