// Libraries in C that are loaded into a process before it starts.

import { basename, join } from 'node:path'

/** Builds a library into a folder; null where there is no Linux or no C compiler. */
export function buildPreload(source: string, folder: string): string | null {
  const compiler = Bun.which('cc') ?? Bun.which('gcc')
  if (compiler === null || process.platform !== 'linux') return null
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
