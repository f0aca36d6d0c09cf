// Acts for --audit-log, and functions that wrap use cases to record their acts.

import { ProviderError } from '../accounts/provider-error.ts'
import { isDomainError } from '../domain/errors.ts'
import type { AuditLine } from '../operating/audit-trail.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'

/** An audited action. The line names `push` and `request` by an id that cannot be used as a link. */
export type Act = Omit<AuditLine, 'at' | 'outcome' | 'ip'> &
  Partial<Pick<AuditLine, 'outcome'>> & { push?: StoredPush | null; request?: StoredRequest | null }

type Work<A extends unknown[], R> = (...args: A) => Promise<R>

type Describe<F> = F extends Work<infer A, infer R> ? (args: A, result: R | undefined) => Act | null : never

/** Describes each audited use case: without a result if it throws. Null writes no line. */
type Acts<P> = { [K in keyof P]?: Describe<P[K]> }

export type On = ReturnType<typeof createOn>

/** Returns a function that wraps use cases, so that each writes its line. */
export function createOn(tell: (act: Act) => void) {
  function wrap<A extends unknown[], R>(work: Work<A, R>, describe: Describe<Work<A, R>>): Work<A, R> {
    return async (...args) => {
      const result = await work(...args).catch((cause) => {
        const act = describe(args, undefined)
        if (act !== null) tell({ ...act, outcome: 'failure', reason: reasonOf(cause) })
        throw cause
      })
      const act = describe(args, result)
      if (act !== null) tell(act)
      return result
    }
  }
  return <P extends object>(part: P, acts: Acts<NoInfer<P>>): P => wrapEach(part, acts, wrap)
}

type Note<F> = F extends Work<infer A, infer R> ? (result: NonNullable<R>, ...args: A) => void : never

/** Wraps operations: passes each result that is not null to the function of the same name in `notes`. */
export function noting<P extends object>(part: P, notes: { [K in keyof P]?: Note<NoInfer<P>[K]> }): P {
  return wrapEach(
    part,
    notes,
    <A extends unknown[], R>(work: Work<A, R>, note: Note<Work<A, R>>): Work<A, R> =>
      async (...args) => {
        const result = await work(...args)
        if (result != null) note(result, ...args)
        return result
      },
  )
}

function wrapEach<P extends object>(
  part: P,
  given: { [K in keyof P]?: unknown },
  wrap: (work: never, given: never) => unknown,
): P {
  const names = Object.keys(given) as (keyof P)[]
  const wrapped = names.map((name) => [name, wrap(part[name] as never, given[name] as never)])
  return { ...part, ...Object.fromEntries(wrapped) }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ProviderError) return cause.reason
  return isDomainError(cause) ? cause.code : 'error'
}
