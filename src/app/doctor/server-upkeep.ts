// What the doctor says of the clock of a PostgreSQL server, and of its work on rows that are gone.

import { formatTime, MINUTE, SECOND } from '../../domain/time.ts'
import type { DatabaseInspection } from '../../store/postgres/inspection.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

/** A clock that differs by less disturbs nobody: expiry goes by the server's clock. */
const CLOCK_MS = 30 * SECOND
const MANY_DEAD = 100_000
/** The server warns from about 2^31 − 40 million on, and stops a little later. */
const OLD_ROWS = 1_500_000_000

export function examineVacuum({ vacuum: { isOn, live, dead, age } }: DatabaseInspection): Finding[] {
  const findings: Finding[] = []
  if (!isOn)
    findings.push(
      problem(
        'vacuum',
        'autovacuum is off: the tables grow without end, and the server stops one day.',
        'Set autovacuum = on.',
      ),
    )
  if (age > OLD_ROWS)
    findings.push(
      problem(
        'vacuum',
        `The oldest rows are ${age} transactions old; at 2 thousand million the server refuses to write.`,
        'Run VACUUM (FREEZE) on the database, and see why autovacuum does not.',
      ),
    )
  if (dead > MANY_DEAD && dead > live)
    findings.push(
      warning(
        'vacuum',
        `The table of pushes has ${dead} dead rows beside ${live}: autovacuum does not keep up.`,
        'See for long transactions (pg_stat_activity), and lower autovacuum_vacuum_cost_delay.',
      ),
    )
  return findings
}

export function examineClocks(
  { clock: { offset, uncertainty }, instance }: DatabaseInspection,
  now: number,
): Finding {
  const apart = Math.max(0, Math.abs(offset) - uncertainty)
  const said = `The clock of PostgreSQL says ${formatTime(now + offset)}`
  if (instance !== null && instance.clockDoubted !== null)
    return problem(
      'clock',
      `${said}, and is in doubt: expired pushes are kept.`,
      'If it is right, confirm it in /admin; if not, set it right.',
    )
  if (apart < CLOCK_MS)
    return fine('clock', `${said}, ${Math.round(Math.abs(offset))} ms from the clock here.`)
  const words =
    apart < 2 * MINUTE ? `${Math.round(apart / SECOND)} s` : `${Math.round(apart / MINUTE)} minutes`
  return warning(
    'clock',
    `${said}; the clock here is ${words} ${offset > 0 ? 'behind' : 'ahead'}. Pushes expire by that of PostgreSQL.`,
    'Let both machines take their time from the same server (NTP).',
  )
}
