// A new file of a command: only this user can read it, it is whole or not there, and never takes the place of
// another.

import { rmSync } from 'node:fs'
import { claimName, createOwnFile, placePart } from '../client/own-files.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { CommandFailure } from './failures.ts'

type NewFile = {
  /** Whether the file may get a numbered name where its own is taken. */
  mayNumber?: boolean
  fill: (write: (text: string) => Promise<void>) => Promise<void>
  /** Called with the bytes written so far. */
  onWritten?: (bytes: number) => void
}

/**
 * Returns the path, once all of the file is on the disk. Throws CommandFailure for what the system refuses.
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
      `${JSON.stringify(path)} was made by another program meanwhile: nothing was written.`,
    )
  } finally {
    process.off('exit', remove)
    remove()
  }
}
