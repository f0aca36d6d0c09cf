// Checks the database: its schema, its structure, and when it was last in use.

import { statSync } from 'node:fs'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { DAY, formatTime } from '../../domain/time.ts'
import type { DataFolder } from '../../store/folder/data-folder.ts'
import {
  type Inspection,
  type InspectionOptions,
  inspectDatabase,
} from '../../store/sqlite/integrity/inspection.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

const MIB = 1024 * 1024

export type Read = Pick<Inspection, 'verifiers' | 'clock'> & { findings: Finding[] }

export function examineDatabase(folder: DataFolder, options: InspectionOptions): Read {
  try {
    const inspection = inspectDatabase(folder, options)
    return { ...inspection, findings: [describe(inspection)] }
  } catch (cause) {
    return { verifiers: [], clock: null, findings: [refused(folder, cause)] }
  }
}

/** A file that this user may not read, or that lies on a full disk, needs no restore, which would expire every push. */
const REMEDY =
  'See docs/damage.md. Restore a backup only if the database is damaged: active pushes come back as expired.'

function refused({ database }: DataFolder, cause: unknown): Finding {
  const said =
    cause instanceof DomainError
      ? cause.message
      : `The database ${database} cannot be read: ${reasonOf(cause)}.`
  return problem('database', said, REMEDY)
}

function describe({ path, version, newest, bytes, damage }: Inspection): Finding {
  if (version > newest) {
    const said = `The database is of a newer version of Oncebox (schema ${version}; this one knows ${newest}).`
    return problem('database', said, 'Use the newer program.')
  }
  if (damage !== null) {
    const remedy = 'Restore the folder from a backup; see docs/damage.md. Check the disk.'
    return problem('damage', `The database is damaged: ${damage}.`, remedy)
  }
  const upgrade = version < newest ? `; the next start upgrades it from schema ${version} to ${newest}` : ''
  return fine('database', `${path}, ${Math.ceil(bytes / MIB)} MiB${upgrade}.`)
}

export type ClockOptions = { now: number; maxGap: number; isServed: boolean }

export function examineClock(clock: Read['clock'], { now, maxGap, isServed }: ClockOptions): Finding {
  const mark = clock?.mark ?? 0
  const said = `The clock of this machine says ${formatTime(now)}`
  if (mark - now > DAY)
    return problem(
      'clock',
      `${said}, but the folder was in use at ${formatTime(mark)}.`,
      'Set the clock right, or start once with --accept-clock.',
    )
  const remedy =
    'If the clock is right, confirm it in /admin or start once with --accept-clock; if not, set it right.'
  if (clock?.doubted != null)
    return problem('clock', `${said}, and is in doubt: expired pushes are kept.`, remedy)
  if (!isServed && mark > 0 && now - mark > maxGap)
    return warning(
      'clock',
      `${said}, long after the last use at ${formatTime(mark)}: the next start will doubt it.`,
      remedy,
    )
  return fine('clock', `${said}.`)
}

/** Reports a write-ahead log that a killed server left. The next start reads it. */
export function examineLeftLog(folder: DataFolder, { isServed }: { isServed: boolean }): Finding[] {
  const log = `${folder.database}-wal`
  const size = isServed ? 0 : (statSync(log, { throwIfNoEntry: false })?.size ?? 0)
  return size === 0 ? [] : [fine('database', 'The last server was killed; the next start finishes its log.')]
}
