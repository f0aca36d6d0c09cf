// A new file of a command: only this user can read it, it is whole or not there, and never takes the place of another.

import { rmSync } from 'node:fs'
import { type FileHandle, rm } from 'node:fs/promises'
import { placePart } from '../client/download.ts'
import { claimName, createOwnFile } from '../client/own-files.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { CommandFailure } from './failures.ts'

export type WholeFile = {
  write(text: string): Promise<void>
  /** Gives the file its name once all of it is on the disk: the one that was asked for, or where that is taken a numbered one. */
  finish(given?: { mayNumber: boolean }): Promise<string>
  /** Removes what was written. Does nothing after a failure, which has done so. */
  drop(): Promise<void>
  /** The same at once, for a process that ends. */
  dropNow(): void
}

/** Throws CommandFailure, also later, for what the system refuses. */
export async function createWholeFile(path: string): Promise<WholeFile> {
  const part = `${path}.${process.pid}.part`
  const file = await explained(path, () => createOwnFile(part))
  const undoing = { path, part, file }
  return {
    write: (text) => orDrop(undoing, () => file.writeFile(text)),
    finish: ({ mayNumber } = { mayNumber: false }) =>
      orDrop(undoing, async () => {
        await file.sync()
        await file.close()
        if (mayNumber) return placePart(part, path)
        if (await claimName(part, path)) return path
        throw new CommandFailure(
          `${JSON.stringify(path)} was made by another program meanwhile: nothing was written.`,
        )
      }),
    drop: () => drop(undoing),
    dropNow: () => rmSync(part, { force: true }),
  }
}

type Undoing = { path: string; part: string; file: FileHandle }

async function orDrop<T>(undoing: Undoing, work: () => Promise<T>): Promise<T> {
  try {
    return await explained(undoing.path, work)
  } catch (cause) {
    await drop(undoing)
    throw cause
  }
}

async function drop({ part, file }: Undoing): Promise<void> {
  await file.close().catch(() => undefined)
  await rm(part, { force: true })
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause
    throw new CommandFailure(`${JSON.stringify(path)} cannot be written: ${reasonOf(cause)}.`)
  }
}
