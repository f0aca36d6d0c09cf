// How the API refuses passphrases of a push.

import { DomainError, retrySeconds } from '../domain/errors.ts'
import { isEndedByTries, isLocked, type Push } from '../domain/push.ts'
import { formatTime } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'

export function refusePassphrase(message: string, error: string | null): Response {
  const body = { error: error ?? message, message, status: 'unauthorized' }
  return answerJson(401, body, { 'www-authenticate': 'Bearer' })
}

/** Says so if this wrong passphrase expired or locked the push. */
export function explainWrong(push: Push): string {
  const wrong = 'The passphrase is wrong.'
  if (isEndedByTries(push)) return `${wrong} It was the last of too many wrong ones: this push has expired.`
  return isLocked(push) ? `${wrong} ${explainLock(push)}` : wrong
}

function explainLock({ ownerId, expiresAt }: Push): string {
  const until =
    ownerId === null
      ? `it has no owner who could unlock it, and stays locked until it expires at ${formatTime(expiresAt)}`
      : 'it is locked until its owner unlocks it on the pages of this server'
  return `Too many wrong passphrases for this push: ${until}.`
}

export function locked(push: Push): DomainError {
  return new DomainError('too_many', explainLock(push), { retryAfter: 60 })
}

export function tooManyTries(lockedFor: number): DomainError {
  const retryAfter = retrySeconds(lockedFor)
  const message = `Too many wrong passphrases for this push: try again in ${retryAfter} s.`
  return new DomainError('too_many', message, { retryAfter })
}
