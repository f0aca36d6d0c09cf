// Bun for every system that a release is compiled for: from npm's cache, checked against the lock file.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { PROJECT } from '../compile.ts'
import type { System } from './parts.ts'

const BUN = manifest.devDependencies.bun
const FOLDER = join(PROJECT, 'node_modules', '.cache', 'oncebox-runtimes')

type Locked = { version?: string; integrity?: string }

/**
 * Resolves to the path of Bun for a system, in node_modules. The first call unpacks it there from npm's cache
 * or the registry. If neither has it, throws an error that says what to do.
 */
export async function runtimeFor(system: System): Promise<string> {
  const name = `${system.runtime.replace('@oven/', '')}-${BUN}`
  const path = join(FOLDER, name, `bun${system.extension}`)
  if (existsSync(path)) return path
  mkdirSync(FOLDER, { recursive: true })
  const work = mkdtempSync(join(FOLDER, 'unpacking-'))
  try {
    await unpack(checked(await pack(system.runtime, work), system.runtime), work)
    const found = join(work, 'package', 'bin', `bun${system.extension}`)
    chmodSync(found, 0o755)
    mkdirSync(join(FOLDER, name), { recursive: true })
    renameSync(found, path)
    return path
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Fetches the archive of the package, by npm and so from its cache if possible. */
async function pack(packageName: string, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const wanted = `${packageName}@${BUN}`
  const command = ['npm', 'pack', '--silent', '--prefer-offline', '--pack-destination', folder, wanted]
  const child = Bun.spawn(command, { cwd: PROJECT, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const complaint = await new Response(child.stderr).text()
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  if ((await child.exited) === 0 && archive !== undefined) return readFileSync(join(folder, archive))
  const remedy = `run "npm cache add ${wanted}" once while there is a network`
  throw new Error(
    `${wanted} is not in npm's cache and the registry was not reached: ${remedy}. ${complaint.trim()}`,
  )
}

/** Returns the bytes if their hash is that of the lock file. */
function checked(archive: Uint8Array<ArrayBuffer>, packageName: string): Uint8Array<ArrayBuffer> {
  const packages: Record<string, Locked> = lock.packages
  const locked = packages[`node_modules/${packageName}`]
  const digest = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  if (locked?.version === BUN && locked.integrity === digest) return archive
  throw new Error(`${packageName}@${BUN} is not the package of package-lock.json: ${digest}`)
}

async function unpack(archive: Uint8Array<ArrayBuffer>, folder: string): Promise<void> {
  await new Bun.Archive(archive).extract(folder)
}
