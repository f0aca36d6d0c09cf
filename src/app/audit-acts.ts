// An act that --audit-log tells, and how the use cases of a part are wrapped to tell theirs.

import { ProviderError } from '../accounts/provider-error.ts'
import { isDomainError } from '../domain/errors.ts'
import type { AuditLine } from '../operating/audit-trail.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'

/** An act of somebody. `push` and `request` are named in the line by an id that is no link. */
export type Act = Omit<AuditLine, 'at' | 'outcome' | 'ip'> &
  Partial<Pick<AuditLine, 'outcome'>> & { push?: StoredPush | null; request?: StoredRequest | null }

type Describe<F> = F extends (...args: infer A) => Promise<infer R>
  ? (args: A, result: R | undefined) => Act | null
  : never

/** The act of each use case; it gets no result when the use case throws, and null tells nothing. */
type Acts<P> = { [K in keyof P]?: Describe<P[K]> }

export type On = ReturnType<typeof createOn>

/** Makes a function that wraps a part, so that its use cases are told. */
export function createOn(tell: (act: Act) => void) {
  function wrap<A extends unknown[], R>(
    work: (...args: A) => Promise<R>,
    describe: (args: A, result: R | undefined) => Act | null,
  ) {
    return async (...args: A): Promise<R> => {
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
  return <P extends object>(part: P, acts: Acts<NoInfer<P>>): P => {
    const told = { ...part }
    for (const name of Object.keys(acts) as (keyof P)[])
      told[name] = wrap(part[name] as never, acts[name] as never) as never
    return told
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ProviderError) return cause.reason
  return isDomainError(cause) ? cause.code : 'error'
}
