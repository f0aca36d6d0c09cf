// Checks the machine: disk, inodes, limits of the process, and the systemd unit.

import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { reasonOf } from '../../domain/system-errors.ts'
import { LEAST_FREE } from '../../operating/health-checks.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

const MIB = 1024 * 1024
const MIN_INODES = 1_000
/** Each connection and each uploaded file needs an open file. */
const MIN_OPEN_FILES = 1_024

export function examineDisk(path: string, floor: number): Finding[] {
  try {
    const { bavail, bsize, blocks, files, ffree } = statfsSync(path)
    return [examineSpace({ free: bavail * bsize, total: blocks * bsize, floor }), examineInodes(files, ffree)]
  } catch (cause) {
    return [
      problem(
        'disk',
        `The disk of ${path} cannot be measured: ${reasonOf(cause)}.`,
        'Check the disk and its mount.',
      ),
    ]
  }
}

function examineSpace({ free, total, floor }: { free: number; total: number; floor: number }): Finding {
  const said = `${mib(free)} of ${mib(total)} are free`
  const remedy = 'Remove other files, or give the folder a larger disk.'
  if (free < floor)
    return problem(
      'disk',
      `${said}, less than --min-free-space (${mib(floor)}): new pushes are refused.`,
      remedy,
    )
  if (free < LEAST_FREE) return problem('disk', `${said}: new pushes are refused.`, remedy)
  if (free < 2 * floor)
    return warning('disk', `${said}; below ${mib(floor)} (--min-free-space) new pushes are refused.`, remedy)
  return fine('disk', `${said}.`)
}

/** A file system without a fixed number of inodes reports a total of 0. */
function examineInodes(total: number, free: number): Finding {
  if (total === 0) return fine('inodes', 'The disk does not limit the number of files.')
  if (free >= MIN_INODES) return fine('inodes', `There is room for ${free} more files.`)
  return problem(
    'inodes',
    `There is room for ${free} more files only.`,
    'Remove small files that nobody needs.',
  )
}

/** Reads the limits from /proc, so only on Linux. */
export function examineLimits(limits = '/proc/self/limits'): Finding[] {
  if (!existsSync(limits)) return []
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(limits, 'utf8')) ?? []
  if (soft === undefined || soft === 'unlimited' || Number(soft) >= MIN_OPEN_FILES) return []
  return [
    warning(
      'limits',
      `Only ${soft} files may be open at once.`,
      'Set LimitNOFILE=65536 in the unit, or ulimit -n 65536.',
    ),
  ]
}

export type UnitOptions = { places: readonly string[]; dataDir: string }

/** The unit that was installed by hand or by a package; null on a machine without one. */
export function examineUnit({ places, dataDir }: UnitOptions): Finding[] {
  const path = places.find((place) => existsSync(place))
  if (path === undefined) return []
  const unit = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*[#;]/.test(line))
  const findings = RULES.flatMap(([wrong, said, remedy]) =>
    unit.some((line) => wrong.test(line)) ? [problem('unit', `${path}: ${said}`, remedy)] : [],
  )
  return [...findings, ...examineStart({ path, unit, dataDir })]
}

const RULES: readonly [RegExp, string, string][] = [
  [
    /^MemoryDenyWriteExecute=(yes|true|1|on)/i,
    'it makes the server seventeen times slower.',
    'Remove MemoryDenyWriteExecute=.',
  ],
  [
    /^ExecStart=.*--accept-clock\b(?!=false)/,
    'it confirms any clock at each start.',
    'Remove --accept-clock from ExecStart=.',
  ],
  [
    /^ExecStart=.*--accept-move\b(?!=false)|^Environment=.*\bONCEBOX_ACCEPT_MOVE=(?!false|0|no|off)/,
    'it serves any copy of the data folder.',
    'Remove --accept-move and ONCEBOX_ACCEPT_MOVE.',
  ],
  [
    /^ExecStart=.*--backup-accept-folder\b(?!=false)|^Environment=.*\bONCEBOX_BACKUP_ACCEPT_FOLDER=(?!false|0|no|off)/,
    'it takes an empty mount point for the disk of the backups.',
    'Remove --backup-accept-folder and ONCEBOX_BACKUP_ACCEPT_FOLDER.',
  ],
  [
    /^ExecStart=.*--accept-database\b(?!=false)|^Environment=.*\bONCEBOX_ACCEPT_DATABASE=(?!false|0|no|off)/,
    'it serves any copy of the database.',
    'Remove --accept-database and ONCEBOX_ACCEPT_DATABASE.',
  ],
]

function examineStart({ path, unit, dataDir }: { path: string; unit: string[]; dataDir: string }): Finding[] {
  const start = unit.findLast((line) => line.startsWith('ExecStart='))?.slice('ExecStart='.length) ?? ''
  const program = start.split(/\s+/)[0]?.replace(/^[-@:+!]+/, '') ?? ''
  if (!existsSync(program))
    return [
      problem(
        'unit',
        `${path} starts ${program || 'nothing'}, which does not exist.`,
        'Correct ExecStart= in it.',
      ),
    ]
  const [, served] = /--data-dir[= ](\S+)/.exec(start) ?? []
  if (served !== undefined && served !== dataDir)
    return [
      warning(
        'unit',
        `${path} serves ${served}, and this looks at ${dataDir}.`,
        `Give --data-dir ${served} here as well.`,
      ),
    ]
  return [fine('unit', `${path} starts ${program}.`)]
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
