// What the doctor sees of the machine: the log file, the limits of a process, and the unit of systemd.

import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../domain/system-errors.ts'
import { type Check, fine, problem, type Verdict, warning } from '../../operating/health.ts'
import { requireLogPlace } from '../../operating/log-file.ts'
import type { DoctorOptions } from './place.ts'

/** Each connection and each uploaded file needs an open file. */
const MIN_OPEN_FILES = 1_024

const UNIT_PLACES = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
].map((folder) => `${folder}/oncebox.service`)

export function createMachineChecks({ config, unitPlaces = UNIT_PLACES }: DoctorOptions): Check[] {
  const { logFile, dataDir } = config
  const unit = unitPlaces.find((place) => existsSync(place))
  return [
    ...(logFile === null ? [] : [{ part: 'log', look: () => lookAtLogFile(logFile) }]),
    ...(existsSync(LIMITS)
      ? [{ part: 'limits', look: () => judgeLimits(readFileSync(LIMITS, 'utf8')) }]
      : []),
    ...(unit === undefined ? [] : [{ part: 'unit', look: () => judgeUnit(unit, dataDir) }]),
  ]
}

function lookAtLogFile(path: string): Verdict {
  requireLogPlace(path)
  try {
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined
    accessSync(isThere ? path : dirname(path), constants.W_OK)
    return fine(`The log goes to ${path}.`)
  } catch (cause) {
    const remedy = 'Make its folder and let the user of the server write there, or name another --log-file.'
    return problem(`The log file ${path} cannot be written: ${reasonOf(cause)}.`, remedy)
  }
}

/** Only on Linux. */
const LIMITS = '/proc/self/limits'

export function judgeLimits(limits: string): Verdict {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? []
  if (soft === undefined || soft === 'unlimited' || Number(soft) >= MIN_OPEN_FILES)
    return fine('Enough files may be open at once.')
  return warning(
    `Only ${soft} files may be open at once.`,
    'Set LimitNOFILE=65536 in the unit, or ulimit -n 65536.',
  )
}

/** What is for one start only, as a flag or a variable. */
const FOR_ONE_START = /--((?:accept-(?:clock|move|database)|backup-accept-folder))\b(?!=false)/
const FOR_ONE_START_VARIABLE =
  /\bONCEBOX_((?:ACCEPT_(?:CLOCK|MOVE|DATABASE)|BACKUP_ACCEPT_FOLDER))=(?!false|0|no|off)/

/** The unit that was installed by hand or by a package. */
function judgeUnit(path: string, dataDir: string): Verdict {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*[#;]/.test(line))
  const inLines = (start: string, wrong: RegExp) =>
    lines.filter((line) => line.startsWith(start)).flatMap((line) => wrong.exec(line)?.[0] ?? [])
  const [slow] = inLines('MemoryDenyWriteExecute=', /^\w+=(yes|true|1|on)/i)
  if (slow !== undefined)
    return problem(`${path}: ${slow} makes the server seventeen times slower.`, `Remove ${slow}.`)
  const [accepts] = [
    ...inLines('ExecStart=', FOR_ONE_START),
    ...inLines('Environment=', FOR_ONE_START_VARIABLE),
  ]
  if (accepts !== undefined) {
    const said = `${path}: ${accepts} accepts at every start what one start was meant to accept, such as a copy.`
    return problem(said, `Remove ${accepts}.`)
  }
  const start = lines.findLast((line) => line.startsWith('ExecStart='))?.slice('ExecStart='.length) ?? ''
  const program = start.split(/\s+/)[0]?.replace(/^[-@:+!]+/, '') ?? ''
  if (!existsSync(program))
    return problem(
      `${path} starts ${program || 'nothing'}, which does not exist.`,
      'Correct ExecStart= in it.',
    )
  const [, served] = /--data-dir[= ](\S+)/.exec(start) ?? []
  if (served === undefined || served === dataDir) return fine(`${path} starts ${program}.`)
  return warning(
    `${path} serves ${served}, and this looks at ${dataDir}.`,
    `Give --data-dir ${served} here as well.`,
  )
}
