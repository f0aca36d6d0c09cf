// What the doctor sees of the machine: the log file, the limits of a process, and the unit of systemd.

import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../domain/system-errors.ts'
import { fine, type Looked, problem, type Verdict, warning } from '../../operating/health.ts'
import { requireLogPlace } from '../../operating/log-file.ts'
import type { Place, PlaceChecks } from './place.ts'

export const MACHINE_CHECKS: PlaceChecks = {
  log: lookAtLogFile,
  limits: () => (existsSync(LIMITS) ? judgeLimits(readFileSync(LIMITS, 'utf8')) : null),
  unit: lookAtUnit,
}

function lookAtLogFile({ config: { logFile: path } }: Place): Looked {
  if (path === null) return null
  requireLogPlace(path)
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK)
    return fine(`The log goes to ${path}.`)
  } catch (cause) {
    const remedy = 'Make its folder and let the user of the server write there, or name another --log-file.'
    return problem(`The log file ${path} cannot be written: ${reasonOf(cause)}.`, remedy)
  }
}

/** Only on Linux. */
const LIMITS = '/proc/self/limits'

/** Each connection and each uploaded file needs an open file. */
const MIN_OPEN_FILES = 1_024

export function judgeLimits(limits: string): Verdict {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (soft === undefined || Number(soft) >= MIN_OPEN_FILES) return fine('Enough files may be open at once.')
  const remedy = 'Set LimitNOFILE=65536 in the unit, or ulimit -n 65536.'
  return warning(`Only ${soft} files may be open at once.`, remedy)
}

const UNIT_PLACES = ['/etc', '/usr/local/lib', '/usr/lib', '/lib'].map(
  (folder) => `${folder}/systemd/system/oncebox.service`,
)

const ACCEPTS = 'accepts at every start what one start was meant to accept, such as a copy'

/** What no unit should have, and what it does. */
const WRONG: [RegExp, string][] = [
  [/^(MemoryDenyWriteExecute=(?:yes|true|1|on))/im, 'makes the server seventeen times slower'],
  [/^ExecStart=.*(--(?:accept-(?:clock|move|database)|backup-accept-folder))\b(?!=false)/m, ACCEPTS],
  [
    /^Environment=.*(ONCEBOX_(?:ACCEPT_(?:CLOCK|MOVE|DATABASE)|BACKUP_ACCEPT_FOLDER)=)(?!false|0|no|off)/m,
    ACCEPTS,
  ],
]

/** The unit that was installed by hand or by a package. */
function lookAtUnit({ config: { dataDir }, unitPlaces = UNIT_PLACES }: Place): Looked {
  const path = unitPlaces.find((place) => existsSync(place))
  if (path === undefined) return null
  const lines = readFileSync(path, 'utf8').split('\n')
  const unit = lines.filter((line) => !/^\s*[#;]/.test(line)).join('\n')
  for (const [wrong, does] of WRONG) {
    const [, found] = wrong.exec(unit) ?? []
    if (found !== undefined) return problem(`${path}: ${found} ${does}.`, `Remove ${found}.`)
  }
  const start = [...unit.matchAll(/^ExecStart=(.*)$/gm)].at(-1)?.[1] ?? ''
  const program = start.split(/\s+/)[0]?.replace(/^[-@:+!]+/, '') ?? ''
  if (!existsSync(program)) {
    const said = `${path} starts ${program || 'nothing'}, which does not exist.`
    return problem(said, 'Correct ExecStart= in it.')
  }
  const [, served = dataDir] = /--data-dir[= ](\S+)/.exec(start) ?? []
  if (served === dataDir) return fine(`${path} starts ${program}.`)
  const said = `${path} serves ${served}, and this looks at ${dataDir}.`
  return warning(said, `Give --data-dir ${served} here as well.`)
}
