// Replaces this program by a release from a file, and returns to the former one. Nothing is ever fetched.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import releaseKeys from '../../release-keys.txt' with { type: 'text' }
import { type PublicKey, parsePublicKeys } from '../crypto/minisign.ts'
import { DomainError } from '../domain/errors.ts'
import { presentTarget, type Release } from '../domain/release.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { readSchema } from '../store/opening/sqlite-accounts.ts'
import { CURRENT_SCHEMA } from '../store/sqlite/engine/migrate.ts'
import { copyName } from '../store/sqlite/engine/migration-copy.ts'
import { ownTarget } from './own-target.ts'
import {
  allowToRun,
  prepareProgramFolder,
  programFiles,
  replaceProgram,
  requireFormer,
  returnToFormer,
} from './program-files.ts'
import { stageRelease } from './release-file.ts'

export { type PublicKey, parsePublicKeys }

/** Where this program and its data are. */
export type UpgradePlace = {
  /** The executable that runs. */
  executable: string
  dataDir: string
  /** Whether the data is in the folder, and not in PostgreSQL. */
  isInFolder: boolean
  tell: (step: string) => void
}

export type Upgraded = { from: string; to: string; former: string }

/** The output of `oncebox version --json`, which an upgrade reads from the former program. */
export function describeProgram(executable: string) {
  return { version, schema: CURRENT_SCHEMA, target: presentTarget(ownTarget(executable)) }
}

/** `keys` are those of the command line, which replace the built-in ones. When it throws `conflict`, nothing was changed. */
export async function upgradeProgram(
  { file, keys }: { file: string; keys: readonly PublicKey[] | null },
  place: UpgradePlace,
): Promise<Upgraded> {
  const trusted = keys ?? builtInKeys()
  const files = programFiles(place.executable)
  const own: Release = { version, target: ownTarget(place.executable) }
  prepareProgramFolder(files)
  place.tell(`checking the signature of ${file}`)
  const release = await stageRelease({ file, staged: files.staged, keys: trusted, own })
  try {
    allowToRun(files)
    place.tell('starting the new program')
    await runProgram(files.staged, ['--version'])
    replaceProgram(files)
    return { from: version, to: release.version, former: files.former }
  } finally {
    rmSync(files.staged, { force: true })
  }
}

function builtInKeys(): readonly PublicKey[] {
  const keys = parsePublicKeys(releaseKeys) ?? []
  if (keys.length > 0) return keys
  throw new DomainError(
    'conflict',
    'This program knows no keys of releases. Name the public key of those who signed the file with --public-key, when you ' +
      'have it from them and not from beside the file.',
  )
}

/** `oncebox upgrade --schema`. */
export function schemaForUpgrade(dataDir: string) {
  return { schema: readSchema(dataDir) }
}

/** Throws `conflict` when the former program could not open the data any more. */
export async function goBack({ executable, dataDir, isInFolder }: UpgradePlace): Promise<{ to: string }> {
  const files = programFiles(executable)
  requireFormer(files)
  const former = await askProgram(files.former, ['version', '--json'])
  if (isInFolder && existsSync(dataFolder(dataDir).database)) {
    const { schema } = await askProgram(executable, ['upgrade', '--schema', '--data-dir', dataDir])
    if (schema > former.schema) throw cannotGoBack({ ...former, found: schema, dataDir })
  }
  returnToFormer(files)
  return { to: former.version }
}

function cannotGoBack(found: {
  version: string
  schema: number
  found: number
  dataDir: string
}): DomainError {
  const copy = join(found.dataDir, copyName(found.schema))
  const remedy = existsSync(copy)
    ? `To go back all the same, stop the server, put ${copy} in the place of oncebox.db (delete oncebox.db-wal and ` +
      'oncebox.db-shm), and repeat this. Accounts and logs are restored, active pushes are lost.'
    : 'Restore the folder from a backup of that time first.'
  return new DomainError(
    'conflict',
    `Oncebox ${found.version} cannot open ${found.dataDir} any more: its schema is version ${found.found}, and that program ` +
      `knows ${found.schema}. Nothing was changed. ${remedy}`,
  )
}

type Answer = { version: string; schema: number }

/** Runs a command of a program that answers in JSON. Missing members are empty. */
async function askProgram(program: string, args: readonly string[]): Promise<Answer> {
  const text = await runProgram(program, args)
  try {
    const { version = '', schema = 0 } = JSON.parse(text)
    return { version: String(version), schema: Number(schema) }
  } catch {
    throw new DomainError(
      'conflict',
      `${program} does not tell what it can open: it is no program that an upgrade kept.`,
    )
  }
}

/** Resolves to its output. Throws `conflict`, with its last words, when it does not start or fails. */
async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const run = start([program, ...args])
  const [out, said, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  if (code === 0) return out
  const words = `${out}${said.replace(/^oncebox: /, '')}`.trim().slice(-600)
  throw new DomainError(
    'conflict',
    `Nothing was changed: "${program} ${args.join(' ')}" ended with ${code}. ${words}`.trim(),
  )
}

function start(command: string[]) {
  try {
    return Bun.spawn(command, { cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: {} })
  } catch {
    // The file is for another system, or cut off.
    throw new DomainError('conflict', `Nothing was changed: ${command[0]} is no program that runs here.`)
  }
}
