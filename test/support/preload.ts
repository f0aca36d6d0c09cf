// Libraries in C that are loaded into a process before it starts.

import { basename, join } from 'node:path'
import { findCompiler } from '../../scripts/programs.ts'

/** Builds a library into a folder; null where there is no Linux or no C compiler. */
export function buildPreload(source: string, folder: string): string | null {
  const compiler = findCompiler()
  if (compiler === null) return null
  const built = join(folder, `${basename(source, '.c')}.so`)
  const { exitCode, stderr } = Bun.spawnSync([
    compiler,
    '-shared',
    '-fPIC',
    '-O2',
    '-o',
    built,
    source,
    '-ldl',
  ])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return built
}
