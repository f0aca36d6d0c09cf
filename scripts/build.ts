// Builds the executable: `npm run build`, for another system with `-- --target bun-windows-x64` and the like.

import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { writeSbom } from './sbom.ts'

const PROJECT = join(import.meta.dir, '..')

// Each flag has a measured effect or prevents a known failure:
const FLAGS = [
  '--production',
  '--minify',
  '--sourcemap',
  // Halves the time to the first response; without `esm`, top-level await fails and the binary contains this folder's path.
  '--bytecode',
  '--format=esm',
  // The executable must not load a bunfig.toml or a .env from the folder where it is started.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
]

/** The path of the executable: `dist/oncebox` for this system, else with the target in its name. */
function outputFor(target: string | undefined): string {
  const system = target?.replace(/^bun-/, '')
  const isWindows = system === undefined ? process.platform === 'win32' : system.startsWith('windows')
  const name = system === undefined ? 'oncebox' : `oncebox-${system}`
  return join(PROJECT, 'dist', isWindows ? `${name}.exe` : name)
}

async function build(target: string | undefined): Promise<void> {
  const output = outputFor(target)
  const startedAt = performance.now()
  mkdirSync(join(PROJECT, 'dist'), { recursive: true })
  // After a failed build no older executable may remain.
  rmSync(output, { force: true })

  const version = `BUILD_VERSION=${JSON.stringify(manifest.version)}`
  const forTarget = target === undefined ? [] : [`--target=${target}`]
  const flags = [...FLAGS, ...forTarget, '--define', version, '--outfile', output]
  const command = [process.execPath, 'build', '--compile', ...flags, join('src', 'main.ts')]
  const child = Bun.spawnSync(command, { cwd: PROJECT, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  if (!child.success)
    throw new Error(`${child.stdout}${child.stderr}`.trim() || `it ended with ${child.exitCode}`)

  // The executable carries its source map; the copy beside it is not needed for readable stack traces.
  rmSync(`${output}.map`, { force: true })
  chmodSync(output, 0o755)
  await writeSbom(join(PROJECT, 'dist', 'oncebox.cdx.json'))
  const megabytes = (statSync(output).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `${relative(process.cwd(), output)}: Oncebox ${manifest.version}, ${megabytes} MB, built in ${seconds} s`,
  )
}

try {
  const { values } = parseArgs({ options: { target: { type: 'string' } } })
  await build(values.target)
} catch (cause) {
  console.error(`The build failed: ${cause instanceof Error ? cause.message : cause}`)
  process.exit(1)
}
