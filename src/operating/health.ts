// What a check tells of one part of a server or its data, and how a list of checks is gone through.

import { DomainError } from '../domain/errors.ts'
import { SECOND } from '../domain/time.ts'
import type { Log } from './log.ts'

export type Verdict = {
  /** A warning needs attention. With a problem new pushes are refused, or the server does not start. */
  state: 'ok' | 'warning' | 'problem'
  said: string
  /** What to do; null when nothing has to be done, or when `said` tells it. */
  remedy: string | null
}

export type Finding = Verdict & { part: string }

/** One part. `look` is asked by monitoring every few seconds, so it has to be cheap; it may throw. */
export type Check = { part: string; look(): Promise<Verdict> | Verdict }

export type Health = { isReady: boolean; findings: readonly Finding[] }

export type LookAtHealth = () => Promise<Health>

export const fine = (said: string): Verdict => ({ state: 'ok', said, remedy: null })
export const warning = (said: string, remedy: string | null = null): Verdict => ({
  ...{ state: 'warning', said, remedy },
})
export const problem = (said: string, remedy: string | null = null): Verdict => ({
  ...{ state: 'problem', said, remedy },
})

/** What does not answer by then, such as a disk of the network, hangs. */
const PATIENCE_MS = 25 * SECOND

export function createLookAtHealth(checks: readonly Check[]): LookAtHealth {
  return async () => {
    const findings = await lookAtAll(checks)
    return { isReady: !findings.some(({ state }) => state === 'problem'), findings }
  }
}

/** A check that fails, or that hangs, is a problem itself; the others go on. */
export function lookAtAll(checks: readonly Check[], patienceMs = PATIENCE_MS): Promise<Finding[]> {
  return Promise.all(checks.map(async ({ part, look }) => ({ part, ...(await inTime(look, patienceMs)) })))
}

async function inTime(look: Check['look'], patienceMs: number): Promise<Verdict> {
  const { promise: late, resolve } = Promise.withResolvers<Verdict>()
  const timer = setTimeout(
    () => resolve(problem('It does not answer. Check its disk or network.')),
    patienceMs,
  )
  const looked = (async () => look())().catch(explainFailure)
  return Promise.race([looked, late]).finally(() => clearTimeout(timer))
}

/** A refusal is told in its own words, which are those with which a start refuses. */
function explainFailure(cause: unknown): Verdict {
  if (cause instanceof DomainError) return problem(cause.message)
  return problem(`This could not be checked: ${cause instanceof Error ? cause.message : String(cause)}`)
}

/** What a finding says to monitoring and to the log. */
export function wordOf({ state, said, remedy }: Verdict): string {
  if (state === 'ok') return 'ok'
  return remedy === null ? said : `${said} ${remedy}`
}

/** Says at the start what needs attention, such as a disk with little space. */
export async function tellHealth(lookAtHealth: LookAtHealth, log: Pick<Log, 'warn'>): Promise<void> {
  const { findings } = await lookAtHealth()
  for (const { part, ...found } of findings) if (found.state !== 'ok') log.warn({ part }, wordOf(found))
}
