// Programs that a test starts many times: built into one file, they take a third of the time to start.

import { join } from 'node:path'
import { makeFolder } from './binary.ts'

/** Builds a program of this folder, such as `restore-child.ts`. Resolves to its path, which goes with this process. */
export async function buildChild(name: string): Promise<string> {
  const entrypoints = [join(import.meta.dir, name)]
  const { outputs } = await Bun.build({ entrypoints, target: 'bun', outdir: makeFolder() })
  const built = outputs.find(({ kind }) => kind === 'entry-point')
  if (built === undefined) throw new Error(`${name} was not built`)
  return built.path
}
