// Sealed files on disk. What is in them is nobody's business here: bytes in, bytes out, durable when a promise resolves.

import { existsSync, mkdirSync, statSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sealedSize } from '../../crypto/sealed-stream.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { diskFull, type OnStep } from '../sqlite/engine/group-commit.ts'

export type Files = ReturnType<typeof createFiles>

/** `onStep` is told before and after what is durable: tests end the process there. */
export function createFiles(folder: string, onStep: OnStep = () => undefined) {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })

  const pathOf = (id: string) => join(folder, id.slice(0, 2), id)

  /** Writes as the bytes arrive; the file exists under its name only once all of it is on the disk. */
  function putFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return writeFile(id, bytes).catch(async (cause) => {
      // At once, because what has to be written down next may need the room.
      await removeFile(id)
      throw isFull(cause) ? diskFull() : cause
    })
  }

  async function writeFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = pathOf(id)
    if ((await mkdir(dirname(path), { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(folder)
    const file = await open(`${path}.part`, 'wx', 0o600)
    try {
      for await (const chunk of bytes) {
        onStep('before a write to a file')
        await writeAll(file, chunk)
      }
      onStep('before a file is synchronized')
      await file.sync()
    } finally {
      await file.close()
    }
    onStep('before a file is renamed')
    await rename(`${path}.part`, path)
    onStep('after a file was renamed')
    await syncFolder(dirname(path))
    onStep('after a file was kept')
  }

  /** Whether the file is there, and as long as it was sealed. */
  function hasFile({ fileId, size }: { fileId: string; size: number }): boolean {
    return statSync(pathOf(fileId), { throwIfNoEntry: false })?.size === sealedSize(size)
  }

  /** null when there is no such file any more. */
  async function openFile(id: string): Promise<FileHandle | null> {
    return open(pathOf(id), 'r').catch((cause) => {
      if (codeOf(cause) === 'ENOENT') return null
      throw cause
    })
  }

  /** Whole or unfinished; it may be gone already. */
  async function removeFile(id: string): Promise<void> {
    onStep('before a file is unlinked')
    await rm(pathOf(id), { force: true })
    onStep('after a file was unlinked')
    await rm(`${pathOf(id)}.part`, { force: true })
  }

  return { putFile, hasFile, openFile, removeFile }
}

function isFull(cause: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(cause))
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten
  }
}

/** Makes a new name survive a power cut. Windows cannot open folders and needs no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
