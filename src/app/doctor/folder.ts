// Checks the data folder, the key file and the log file: existence, owner, permissions, writability. Changes nothing.

import { accessSync, constants, readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fingerprint, type Keyring, parseKeyFile } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { requireLogPlace } from '../../operating/log-place.ts'
import { type DataFolder, holdsData } from '../../store/folder/data-folder.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

const OTHERS = 0o077

/** `holdsData` is false when there is no database to check further. */
export function examineFolder(folder: DataFolder): { findings: Finding[]; holdsData: boolean } {
  const { path } = folder
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    const remedy = 'Start "oncebox serve" once, or name the right folder with --data-dir.'
    return { findings: [problem('folder', `There is no data folder at ${path}.`, remedy)], holdsData: false }
  }
  if (!found.isDirectory()) {
    const remedy = 'Name a folder with --data-dir.'
    return { findings: [problem('folder', `${path} is no folder.`, remedy)], holdsData: false }
  }
  const findings = [...examineAccess(path, found), ...examineContents(folder)]
  return {
    findings: orFine(findings, 'folder', `${path} is closed to others and writable.`),
    holdsData: hasData(folder),
  }
}

function hasData(folder: DataFolder): boolean {
  try {
    return holdsData(folder)
  } catch {
    return false
  }
}

function examineAccess(path: string, found: Stats): Finding[] {
  const findings: Finding[] = []
  const me = process.geteuid?.()
  if (me !== undefined && found.uid !== me)
    findings.push(
      problem(
        'folder',
        `${path} belongs to the user ${found.uid}, and this runs as ${me}.`,
        `Run this as its owner, or: chown -R ${me} ${path}`,
      ),
    )
  if (isOpen(found))
    findings.push(problem('folder', `Other users of this machine can enter ${path}.`, `chmod 700 ${path}`))
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const remedy = 'Give its user all rights to it, or mount its disk for writing.'
    findings.push(problem('folder', `${path} cannot be written to: ${reasonOf(cause)}.`, remedy))
  }
  return findings
}

/** Files of another user, as a command that root ran by hand may leave them. */
function examineContents({ path }: DataFolder): Finding[] {
  const me = process.geteuid?.()
  if (me === undefined) return []
  const foreign = namesIn(path).filter(
    (name) => statSync(`${path}/${name}`, { throwIfNoEntry: false })?.uid !== me,
  )
  const [first] = foreign
  if (first === undefined) return []
  return [problem('folder', `In ${path}, ${first} belongs to another user.`, `chown -R ${me} ${path}`)]
}

function namesIn(path: string): string[] {
  try {
    // A file that was removed meanwhile is skipped.
    return readdirSync(path).filter(
      (name) => statSync(`${path}/${name}`, { throwIfNoEntry: false }) !== undefined,
    )
  } catch {
    return []
  }
}

/** `verifiers` are those that the database was written with. */
export function examineKey(
  path: string,
  verifiers: readonly { number: number; verifier: Uint8Array }[],
): Finding[] {
  const restore = `Put the key file back from a backup, or name it with --key-file: without it every push is lost.`
  let keyring: Keyring
  try {
    keyring = parseKeyFile(readFileSync(path, 'utf8'))
  } catch (cause) {
    return [problem('key', `The key file ${path} cannot be used: ${reasonOf(cause)}.`, restore)]
  }
  const findings: Finding[] = []
  if (isOpen(statSync(path)))
    findings.push(
      problem('key', `Other users of this machine can read the key file ${path}.`, `chmod 600 ${path}`),
    )
  const wrong = keyring.keys.find((key) => {
    const known = verifiers.find(({ number }) => number === key.number)
    return known !== undefined && !Buffer.from(known.verifier).equals(key.verifier)
  })
  if (wrong !== undefined)
    findings.push(problem('key', `The key file ${path} does not belong to this database.`, restore))
  return orFine(findings, 'key', `${path}, fingerprint ${fingerprint(keyring.sealing.verifier)}.`)
}

/** Always false on Windows, where modes do not show it. */
function isOpen({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & OTHERS) !== 0
}

export function examineLogFile(path: string | null): Finding[] {
  if (path === null) return []
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined
  try {
    requireLogPlace(path)
    accessSync(exists ? path : dirname(path), constants.W_OK)
    return [fine('log', `The log goes to ${path}.`)]
  } catch (cause) {
    if (cause instanceof DomainError) return [problem('log', cause.message, 'Name another --log-file.')]
    const remedy = 'Make its folder and let the user of the server write there, or name another --log-file.'
    return [problem('log', `The log file ${path} cannot be written: ${reasonOf(cause)}.`, remedy)]
  }
}

function orFine(findings: Finding[], part: string, said: string): Finding[] {
  return findings.length > 0 ? findings : [fine(part, said)]
}

export function warnOfNoData(path: string): Finding {
  return warning('database', `There is no data in ${path} yet.`, 'Start "oncebox serve" once.')
}
