// The verdict of a health check, and how a list of checks runs.

import { DomainError } from '../domain/errors.ts'
import type { FailingHost } from '../domain/outbox.ts'
import { messageOf } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import type { Log } from './log.ts'

export type Verdict = {
  /** A warning needs attention. With a problem new pushes are refused, or the server does not start. */
  state: 'ok' | 'warning' | 'problem'
  said: string
  /** The remedy; null if nothing has to be done, or if `said` already contains it. */
  remedy: string | null
  /** Receivers of messages that fail, for a page, which explains them in the language of its reader. */
  failing?: readonly FailingHost[]
}

export type Finding = Verdict & { part: string }

/** Returns null when this server has no such part. May throw. */
export type Looked = Verdict | null

/** The checks by part. Each must be cheap, because monitoring runs them every few seconds. */
export type Checks = Record<string, () => Promise<Looked> | Looked>

export type Health = { isReady: boolean; findings: readonly Finding[] }

export type LookAtHealth = () => Promise<Health>

export const fine = (said: string): Verdict => ({ state: 'ok', said, remedy: null })
const tell =
  (state: Verdict['state']) =>
  (said: string, remedy: string | null = null): Verdict => ({ state, said, remedy })
export const warning = tell('warning')
export const problem = tell('problem')

/** The timeout of a check. After it, the checked part, such as a network disk, counts as hanging. */
const PATIENCE_MS = 25 * SECOND

export function createLookAtHealth(checks: Checks): LookAtHealth {
  return async () => {
    const findings = await lookAtAll(checks)
    return { isReady: !findings.some(({ state }) => state === 'problem'), findings }
  }
}

/** Runs all checks. One that throws or times out becomes a problem itself, and does not stop the others. */
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

/** Use the words of a DomainError unchanged, because a failed start prints the same ones. */
function explainFailure(cause: unknown): Verdict {
  if (cause instanceof DomainError) return problem(cause.message)
  return problem(`This could not be checked: ${messageOf(cause)}`)
}

/** The text of a finding for monitoring and the log. */
export function wordOf({ state, said, remedy }: Verdict): string {
  if (state === 'ok') return 'ok'
  return remedy === null ? said : `${said} ${remedy}`
}

/** Logs, at the start, the findings that need attention, such as little disk space. */
export async function tellHealth(lookAtHealth: LookAtHealth, log: Pick<Log, 'warn'>): Promise<void> {
  const { findings } = await lookAtHealth()
  for (const { part, ...found } of findings) if (found.state !== 'ok') log.warn({ part }, wordOf(found))
}
