// Replaces this program by a release from a file, and returns to the former one. Nothing is ever fetched.

import { existsSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import releaseKeys from '../../release-keys.txt' with { type: 'text' }
import { type PublicKey, parsePublicKeys } from '../crypto/minisign.ts'
import { DomainError } from '../domain/errors.ts'
import { presentTarget, type Release } from '../domain/release.ts'
import { ownTarget } from '../operating/upgrade/own-target.ts'
import {
  allowToRun,
  prepareProgramFolder,
  programFiles,
  replaceProgram,
  requireFormer,
  returnToFormer,
} from '../operating/upgrade/program-files.ts'
import { stageRelease } from '../operating/upgrade/release-file.ts'
import { trialFolder, tryProgram } from '../operating/upgrade/trial.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { CURRENT_SCHEMA, copyBeforeUpgrade, readSchema } from '../store/opening/upgrade-copy.ts'

export { type PublicKey, parsePublicKeys }

/** Where this program and its data are. */
export type UpgradePlace = {
  /** The executable that runs. */
  executable: string
  dataDir: string
  keyFile: string | null
  /** Whether the data is in the folder, and not in PostgreSQL, which nothing here copies. */
  isInFolder: boolean
  tell: (step: string) => void
}

export type Upgraded = { from: string; to: string; former: string; copy: string | null }

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
    const { path } = await askProgram(place.executable, trialCommand(place, files.staged), place.tell)
    replaceProgram(files)
    return { from: version, to: release.version, former: files.former, copy: path }
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

/** The arguments for this program's trial command, which gives up the rights of root for those of the data's owner. */
function trialCommand({ dataDir, keyFile, isInFolder }: UpgradePlace, program: string): string[] {
  const key = keyFile === null ? [] : ['--key-file', keyFile]
  return ['upgrade', '--trial', program, '--data-dir', dataDir, ...key, ...(isInFolder ? [] : ['--no-copy'])]
}

/** `oncebox upgrade --trial`. `path` is the copy of the database; null without data. */
export async function tryUpgrade(
  program: string,
  { dataDir, keyFile, isInFolder, now, tell }: Omit<UpgradePlace, 'executable'> & { now: number },
): Promise<{ path: string | null }> {
  const { path, key, database } = dataFolder(dataDir)
  if (!isInFolder || !existsSync(database)) {
    tell(isInFolder ? `there is no data in ${path} to copy` : NOT_COPIED)
    const room = mkdtempSync(join(tmpdir(), 'oncebox-upgrade-'))
    await tryProgram({ program, folder: join(room, 'trial'), copy: null, tell }).finally(() =>
      rmdirSync(room),
    )
    return { path: null }
  }
  tell('copying the database, without keys')
  const copy = copyBeforeUpgrade(dataDir, { version, now })
  const trial = { path: copy, keyFile: keyFile ?? key }
  await tryProgram({ program, folder: trialFolder(path), copy: trial, tell })
  return { path: copy }
}

const NOT_COPIED = 'the database is PostgreSQL, which keeps its own backups: nothing is copied'

/** `oncebox upgrade --schema`. */
export function schemaForUpgrade(dataDir: string) {
  return { schema: readSchema(dataDir) }
}

/** Throws `conflict` when the former program could not open the data any more. */
export async function goBack(place: UpgradePlace): Promise<{ to: string }> {
  const { executable, dataDir, isInFolder } = place
  const files = programFiles(executable)
  requireFormer(files)
  const former = await askProgram(files.former, ['version', '--json'], place.tell)
  if (isInFolder && existsSync(dataFolder(dataDir).database)) {
    const { schema } = await askProgram(
      executable,
      ['upgrade', '--schema', '--data-dir', dataDir],
      place.tell,
    )
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
  const copies = [`before-update-from-${found.schema}.db`, `before-upgrade-from-${found.version}.db`]
  const copy = copies.map((name) => join(found.dataDir, name)).find((path) => existsSync(path))
  const remedy =
    copy === undefined
      ? 'Restore the folder from a backup of that time first.'
      : `To go back all the same, stop the server, put ${copy} in the place of oncebox.db (delete oncebox.db-wal and ` +
        'oncebox.db-shm), and repeat this. Accounts and logs are restored, active pushes are lost.'
  return new DomainError(
    'conflict',
    `Oncebox ${found.version} cannot open ${found.dataDir} any more: its schema is version ${found.found}, and that program ` +
      `knows ${found.schema}. Nothing was changed. ${remedy}`,
  )
}

/** The beginning of a line that reports a step. */
export const STEP = '… '

type Answer = { path: string | null; version: string; schema: number }

/** Runs a command of a program that answers in JSON. Missing members are null. Forwards the steps that it reports. */
async function askProgram(
  program: string,
  args: readonly string[],
  tell: (step: string) => void,
): Promise<Answer> {
  const child = Bun.spawn([program, ...args], {
    ...{ cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: {} },
  })
  const [out, said, code] = await Promise.all([
    new Response(child.stdout).text(),
    passOn(child.stderr, tell),
    child.exited,
  ])
  if (code === 0) return parseAnswer(program, out)
  throw new DomainError('conflict', said.replace(/^oncebox: /, '') || `${program} ended with ${code}`)
}

/** Forwards steps to `tell`. Resolves to the other lines. */
async function passOn(stderr: ReadableStream<Uint8Array>, tell: (step: string) => void): Promise<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = ''
  for await (const piece of stderr) {
    const lines = (line + decoder.decode(piece, { stream: true })).split('\n')
    line = lines.pop() ?? ''
    for (const whole of lines) {
      if (whole.startsWith(STEP)) tell(whole.slice(STEP.length))
      else rest += `${whole}\n`
    }
  }
  return (rest + line).trim()
}

function parseAnswer(program: string, text: string): Answer {
  try {
    const { path = null, version = '', schema = 0 } = JSON.parse(text)
    return { path: path === null ? null : String(path), version: String(version), schema: Number(schema) }
  } catch {
    throw new DomainError(
      'conflict',
      `${program} does not tell what it can open: it is no program that an upgrade kept.`,
    )
  }
}
