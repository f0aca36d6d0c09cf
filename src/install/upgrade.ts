// Replaces this program by a release file, or restores the former program. Never downloads anything.

import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { type PublicKey, parsePublicKeys } from '../crypto/minisign.ts'
import { conflict } from '../domain/errors.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { asOwner } from '../store/folder/ownership.ts'
import { readSchema } from '../store/opening/folder-database.ts'
import { CURRENT_SCHEMA } from '../store/sqlite/migrate.ts'
import { copyName, putCopyBack } from '../store/sqlite/migration-copy.ts'
import {
  allowToRun,
  prepareProgramFolder,
  programFiles,
  replaceProgram,
  requireFormer,
  returnToFormer,
} from './program-files.ts'
import type { Release } from './release.ts'
import { stageRelease } from './release-file.ts'
import { readReleaseKeys } from './release-keys.ts'

export { type PublicKey, parsePublicKeys }

/** This program and its data. */
export type UpgradePlace = {
  /** The executable that runs. */
  executable: string
  dataDir: string
  /** Whether the data is in the folder, and not in PostgreSQL. */
  isInFolder: boolean
  tell: (step: string) => void
}

/** The output of `oncebox version --json`, which an upgrade reads from the former program. */
export function describeProgram(executable: string) {
  return { version, schema: CURRENT_SCHEMA, target: ownTarget(executable) }
}

/**
 * Verifies, starts and installs a release. `keys` from the command line replace the built-in ones. Throws
 * `conflict` before anything is changed.
 */
export async function upgradeProgram(
  { file, keys }: { file: string; keys: readonly PublicKey[] | null },
  place: UpgradePlace,
) {
  const trusted = keys ?? builtInKeys()
  const files = programFiles(place.executable)
  const own: Release = { version, target: ownTarget(place.executable) }
  prepareProgramFolder(files)
  place.tell(`checking the signature of ${file}`)
  using cleaning = new DisposableStack()
  cleaning.defer(() => rmSync(files.staged, { force: true }))
  const release = stageRelease({ file, staged: files.staged, keys: trusted, own })
  allowToRun(files)
  place.tell('starting the new program')
  await runProgram(files.staged, ['--version'])
  replaceProgram(files)
  return { from: version, to: release.version, former: files.former }
}

function builtInKeys(): readonly PublicKey[] {
  const keys = readReleaseKeys()
  if (keys.length > 0) return keys
  throw conflict(
    "This build has no release keys. Give the signer's public key with --public-key, and get it from the signer, " +
      'not from beside the file.',
  )
}

type WayBack = Awaited<ReturnType<typeof findWayBack>>

/**
 * Returns the former program's version and schema version. `copy`: the pre-migration copy that must replace
 * the database; null if the database can stay. Throws `conflict` if there is no former program, or if it can
 * open neither the database nor the copy.
 */
export async function findWayBack({ executable, dataDir, isInFolder }: UpgradePlace) {
  const files = programFiles(executable)
  requireFormer(files)
  const { version: to, schema } = await askProgram(files.former)
  const found = isInFolder ? asOwner(dataDir, () => schemaOf(dataDir)) : 0
  if (found <= schema) return { to, schema, copy: null }
  const copy = join(dataDir, copyName(schema))
  if (asOwner(dataDir, () => existsSync(copy))) return { to, schema, copy }
  throw conflict(
    `Oncebox ${to} cannot open ${dataDir} any more: its schema is version ${found}, and that program knows ${schema}. There is no ` +
      `${copy} either. Nothing was changed. Restore the folder from a backup of that time first.`,
  )
}

function schemaOf(dataDir: string): number {
  return existsSync(dataFolder(dataDir).database) ? readSchema(dataDir) : 0
}

/** Throws `conflict`, and changes nothing, while a server uses a database that must be replaced. */
export function goBack({ executable, dataDir }: UpgradePlace, { schema, copy }: WayBack): void {
  if (copy !== null) asOwner(dataDir, () => putCopyBack(dataFolder(dataDir), schema))
  returnToFormer(programFiles(executable))
}

/** Asks a program for its version and schema version. */
async function askProgram(program: string) {
  const text = await runProgram(program, ['version', '--json'])
  try {
    const { version = '', schema = 0 } = JSON.parse(text)
    return { version: String(version), schema: Number(schema) }
  } catch {
    throw conflict(
      `${program} did not report its schema version. It is not a program that "oncebox upgrade" kept.`,
    )
  }
}

/**
 * Resolves to the program's output. Throws `conflict`, with the end of the output, when it fails or cannot
 * start.
 */
async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const run = start([program, ...args])
  const [out, said, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  if (code === 0) return out
  const words = `${out}${said.replace(/^oncebox: /, '')}`.trim().slice(-600)
  throw conflict(`Nothing was changed: "${program} ${args.join(' ')}" ended with ${code}. ${words}`.trim())
}

function start(command: string[]) {
  try {
    return Bun.spawn(command, { cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: {} })
  } catch {
    // The file is for another system, or truncated.
    throw conflict(`Nothing was changed: ${command[0]} does not run on this system.`)
  }
}

const HEADER_BYTES = 4096

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'windows' }

/**
 * Returns the target as release names have it. The header of a Linux program names the loader of its C
 * library.
 */
function ownTarget(executable: string): string {
  const system = SYSTEMS[process.platform] ?? 'linux'
  const machine = process.arch === 'arm64' ? 'arm64' : 'x64'
  const isMusl = system === 'linux' && readHeader(executable).includes('/ld-musl-')
  return `${system}-${machine}${isMusl ? '-musl' : ''}`
}

function readHeader(path: string): string {
  using closing = new DisposableStack()
  const file = closing.adopt(openSync(path, 'r'), closeSync)
  const bytes = Buffer.alloc(HEADER_BYTES)
  return bytes.subarray(0, readSync(file, bytes, 0, HEADER_BYTES, 0)).toString('latin1')
}
