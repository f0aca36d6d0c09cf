// Writes files of commands completely or not at all, readable for this user only. An output file never
// overwrites another file; a file of the program itself is replaced.

import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { claimName, createOwnFile, placePart } from '../client/own-files.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { CommandFailure } from './failures.ts'

type NewFile = {
  /** Whether the file may get a numbered name if its name is taken. */
  mayNumber?: boolean
  fill: (write: (text: string) => Promise<void>) => Promise<void>
  /** Called with the total of bytes written so far. */
  onWritten?: (bytes: number) => void
}

/**
 * Resolves to the path once the whole file is on the disk. Throws CommandFailure when the system refuses.
 */
export async function writeWholeFile(path: string, { mayNumber, fill, onWritten }: NewFile): Promise<string> {
  const part = `${path}.${process.pid}.part`
  const remove = () => rmSync(part, { force: true })
  const explain = (cause: unknown) => {
    throw new CommandFailure(`${JSON.stringify(path)} cannot be written: ${reasonOf(cause)}.`)
  }
  process.once('exit', remove)
  try {
    {
      await using file = await createOwnFile(part).catch(explain)
      let written = 0
      await fill(async (text) => {
        await file.writeFile(text).catch(explain)
        written += Buffer.byteLength(text)
        onWritten?.(written)
      })
      await file.sync().catch(explain)
    }
    if (mayNumber) return await placePart(part, path).catch(explain)
    if (await claimName(part, path).catch(explain)) return path
    throw new CommandFailure(
      `${JSON.stringify(path)} was created by another program meanwhile: nothing was written.`,
    )
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** Replaces a small file by a new one. Never writes into an existing file, so it follows no symlink. */
export function replaceFile(path: string, text: string, { mode }: { mode: number }): void {
  const fresh = `${path}.${process.pid}.new`
  rmSync(fresh, { force: true })
  writeFileSync(fresh, text, { flag: 'wx', mode })
  // The umask may have removed some of the permissions.
  chmodSync(fresh, mode)
  renameSync(fresh, path)
}
