// Compiles the executable with Bun, for this system or another. The flags are those of every build and
// release.

import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }

export const PROJECT = join(import.meta.dir, '..')
export const VERSION = manifest.version

// Each flag has a measured effect or prevents a known failure:
const FLAGS = [
  '--production',
  '--minify',
  '--sourcemap',
  // Halves the time to the first response; without `esm`, top-level await fails and the binary contains this
  // folder's path.
  '--bytecode',
  '--format=esm',
  // Code that runs once at the start is not worth compiling: saves a quarter of a start's processor time, and
  // 3 MiB. `main.ts` ends this after a second.
  '--compile-jit-policy=64',
  // Places the functions that a start runs next to each other, so that a start reads 8 MiB less. Functions
  // that have changed since then are just elsewhere. To record a new order, serve with
  // BUN_BYTECODE_ORDER_OUT=FILE, open a page and stop the server; keep the first line and those from `F`, `M`
  // and `N`.
  '--bytecode-order=scripts/start.order',
  // Modules that are imported later take no memory until then.
  '--splitting',
  // Name the file so, because a thread looks for its entry beside the code that starts it.
  '--entry-naming=[name].[ext]',
  // The executable must not load a bunfig.toml or a .env from the folder where it is started.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
]

/**
 * Entry points. The second is that of the disk threads: as text, it would have to be transpiled in each
 * thread, with 2 MiB more of Bun's own code.
 */
const ENTRIES = ['src/main.ts', 'src/store/sqlite/disk-thread.js']

export type Compilation = {
  /** The path of the executable. Its name is embedded in its bytes. */
  output: string
  /** Bun's name of the target system, such as `bun-linux-arm64`; by default this system. */
  target?: string | undefined
  /** The path of Bun for the target; by default Bun downloads its own. */
  runtime?: string
}

/**
 * Compiles the executable. Throws Bun's message on failure, and then leaves no older executable behind
 * either.
 */
export async function compile({ output, ...system }: Compilation): Promise<void> {
  mkdirSync(dirname(output), { recursive: true })
  rmSync(output, { force: true })
  // Remove Bun's source maps: the executable contains them too.
  const folder = mkdtempSync(join(dirname(output), '.compile-'))
  try {
    const made = join(folder, basename(output))
    await runBun({ ...system, output: made })
    chmodSync(made, 0o755)
    renameSync(made, output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runBun({ output, target, runtime }: Compilation): Promise<void> {
  const forTarget = [
    ...(target === undefined ? [] : [`--target=${target}`]),
    ...(runtime === undefined ? [] : [`--compile-executable-path=${runtime}`]),
  ]
  const version = `BUILD_VERSION=${JSON.stringify(VERSION)}`
  const flags = [...FLAGS, ...forTarget, '--define', version, '--outfile', output]
  const command = [process.execPath, 'build', '--compile', ...flags, ...ENTRIES]
  // If this variable is set, Bun bundles other modules of some packages.
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = Bun.spawn(command, { cwd: PROJECT, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [said, complained, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${said}${complained}`.trim() || `it ended with ${code}`)
}
