// `oncebox doctor`: says what is wrong with an installation, and what to do about it.

import { version } from '../../package.json'
import type { Finding } from '../app/doctor/doctor.ts'
import { printableLine } from '../domain/printable.ts'
import type { Config } from '../settings/table.ts'
import type { Given } from './command.ts'
import { ToldFailure } from './failures.ts'

const FAILED = 1
const MARKS: Record<Finding['state'], string> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' }

export async function doctor({
  flags,
  config,
  shell,
  app,
}: Given<{ json: boolean; deep: boolean }, Config>): Promise<void> {
  const { now, network } = shell
  const findings = await app.examine({ config, now, network, version, isDeep: flags.deep })
  const isWell = !findings.some(({ state }) => state === 'problem')
  if (flags.json) shell.print(JSON.stringify({ version, ok: isWell, findings }, null, 2))
  else for (const line of presentFindings(findings)) shell.print(line)
  if (!isWell) throw new ToldFailure(FAILED)
}

function presentFindings(findings: readonly Finding[]): string[] {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const sum =
    problems + warnings === 0 ? 'Nothing is wrong.' : `Problems: ${problems}. Warnings: ${warnings}.`
  const width = Math.max(...findings.map(({ part }) => part.length))
  const lines = findings.flatMap(({ part, state, said, remedy }) => {
    const line = `${MARKS[state]}  ${part.padEnd(width)}  ${printableLine(said)}`
    return remedy === null ? [line] : [line, `${' '.repeat(width + 11)}→ ${printableLine(remedy)}`]
  })
  return [...lines, sum]
}
