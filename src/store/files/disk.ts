// Sealed files in a folder of the disk, each under its id.

import { existsSync, mkdirSync } from 'node:fs'
import { type FileHandle, mkdir, open as openPath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sealedSize } from '../../crypto/sealed-stream.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { atStep } from '../durable-steps.ts'
import type { OpenedFile, SealedFiles } from '../files-contract.ts'
import { diskFull } from '../refusals.ts'

export function createDiskFiles(folder: string): SealedFiles {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })

  const pathOf = (id: string) => join(folder, id.slice(0, 2), id)

  function put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const written: string[] = []
    return writeFile(pathOf(id), { bytes, written }).catch(async (cause) => {
      // Remove the partial file at once, because the next commit may need the space; but never a file of
      // another call.
      for (const path of written) await unlink(path)
      throw isFull(cause) ? diskFull() : cause
    })
  }

  /** `written`: the names of what this call has written, at any moment. */
  async function writeFile(
    path: string,
    { bytes, written }: { bytes: AsyncIterable<Uint8Array>; written: string[] },
  ): Promise<void> {
    if ((await mkdir(dirname(path), { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(folder)
    const file = await openPath(`${path}.part`, 'wx', 0o600)
    written.push(`${path}.part`)
    try {
      for await (const chunk of bytes) {
        atStep('before a write to a file')
        await writeAll(file, chunk)
      }
      atStep('before a file is synchronized')
      await file.sync()
    } finally {
      await file.close()
    }
    atStep('before a file is renamed')
    await rename(`${path}.part`, path)
    written.push(path)
    atStep('after a file was renamed')
    await syncFolder(dirname(path))
    atStep('after a file was kept')
  }

  async function has({ id, size }: { id: string; size: number }): Promise<boolean> {
    const found = await stat(pathOf(id)).catch(nullIfMissing)
    return found?.size === sealedSize(size)
  }

  async function open(id: string): Promise<OpenedFile | null> {
    const file = await openPath(pathOf(id), 'r').catch(nullIfMissing)
    return file === null ? null : openedFile(file)
  }

  async function remove(id: string): Promise<void> {
    await unlink(pathOf(id))
    await rm(`${pathOf(id)}.part`, { force: true })
  }

  async function unlink(path: string): Promise<void> {
    atStep('before a file is unlinked')
    await rm(path, { force: true })
    atStep('after a file was unlinked')
  }

  return { put, open, has, remove }
}

async function openedFile(file: FileHandle): Promise<OpenedFile> {
  try {
    const { size } = await file.stat()
    return { size, read: (span) => readAt(file, span), close: () => file.close() }
  } catch (cause) {
    await file.close()
    throw cause
  }
}

async function readAt(file: FileHandle, { start, length }: { start: number; length: number }) {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

function nullIfMissing(cause: unknown): null {
  if (codeOf(cause) === 'ENOENT') return null
  throw cause
}

function isFull(cause: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(cause))
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten
  }
}

/** Makes a new name survive a power cut. Windows can neither open folders nor needs this. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await openPath(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
