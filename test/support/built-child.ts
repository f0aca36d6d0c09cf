// Builds programs that a test starts many times into one file, which starts three times as fast.

import { join } from 'node:path'
import { makeFolder } from './binary.ts'

/** The entry file of the disk threads, placed beside the program. */
const THREAD = join(import.meta.dir, '../../src/store/sqlite/disk-thread.js')

/**
 * Builds a program of this folder, such as `restore-child.ts`. Resolves to its path, which is removed when
 * this process exits.
 */
export async function buildChild(name: string): Promise<string> {
  const entrypoints = [join(import.meta.dir, name), THREAD]
  const naming = '[name].[ext]'
  const { outputs } = await Bun.build({ entrypoints, naming, target: 'bun', outdir: makeFolder() })
  const built = outputs.find(({ path }) => path.endsWith(name.replace(/ts$/, 'js')))
  if (built === undefined) throw new Error(`${name} was not built`)
  return built.path
}
