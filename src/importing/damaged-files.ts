// Files of another server that are there, and are not what they were.

import { type IncomingFile, IncomingProblem } from '../domain/incoming.ts'

/** Reads all of them. Returns why one cannot come, or null. */
export async function findDamage(files: readonly IncomingFile[]): Promise<string | null> {
  for (const { open } of files) {
    try {
      for await (const _piece of open());
    } catch (cause) {
      if (cause instanceof IncomingProblem) return cause.message
      throw cause
    }
  }
  return null
}
