// An act that --audit-log tells, and how a use case is wrapped to tell it.

import { ProviderError } from '../accounts/provider-error.ts'
import { isDomainError } from '../domain/errors.ts'
import type { AuditLine } from '../operating/audit-trail.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'

/** An act of somebody. `push` and `request` are named in the line by an id that is no link. */
export type Act = Omit<AuditLine, 'at' | 'outcome' | 'ip'> &
  Partial<Pick<AuditLine, 'outcome'>> & { push?: StoredPush | null; request?: StoredRequest | null }

export type On = ReturnType<typeof createOn>

/** Makes a wrapper of use cases. `describe` gets no result when one throws; null tells nothing. */
export function createOn(tell: (act: Act) => void) {
  return <A extends unknown[], R>(
    work: (...args: A) => Promise<R>,
    describe: (args: A, result: R | undefined) => Act | null,
  ): ((...args: A) => Promise<R>) => {
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
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ProviderError) return cause.reason
  return isDomainError(cause) ? cause.code : 'error'
}
