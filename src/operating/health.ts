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

/** Null when there is no such part here. May throw. */
export type Looked = Verdict | null

/** By part. Monitoring asks every few seconds, so each has to be cheap. */
export type Checks = Record<string, () => Promise<Looked> | Looked>

export type Health = { isReady: boolean; findings: readonly Finding[] }

export type LookAtHealth = () => Promise<Health>

export const fine = (said: string): Verdict => ({ state: 'ok', said, remedy: null })
const tell =
  (state: Verdict['state']) =>
  (said: string, remedy: string | null = null): Verdict => ({ state, said, remedy })
export const warning = tell('warning')
export const problem = tell('problem')

/** What does not answer by then, such as a disk of the network, hangs. */
const PATIENCE_MS = 25 * SECOND

export function createLookAtHealth(checks: Checks): LookAtHealth {
  return async () => {
    const findings = await lookAtAll(checks)
    return { isReady: !findings.some(({ state }) => state === 'problem'), findings }
  }
}

/** A check that fails, or that hangs, is a problem itself; the others go on. */
export async function lookAtAll(checks: Checks, patienceMs = PATIENCE_MS): Promise<Finding[]> {
  const looks = Object.entries(checks).map(async ([part, look]) => {
    const verdict = await inTime(look, patienceMs)
    return verdict === null ? [] : [{ part, ...verdict }]
  })
  return (await Promise.all(looks)).flat()
}

async function inTime(look: Checks[string], patienceMs: number): Promise<Looked> {
  const { promise: late, resolve } = Promise.withResolvers<Verdict>()
  const tellLate = () => resolve(problem('It does not answer. Check its disk or network.'))
  const timer = setTimeout(tellLate, patienceMs)
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
