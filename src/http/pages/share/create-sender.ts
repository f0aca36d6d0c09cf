// Whether the person who sends the form is the one who opened it, and what the form carries to tell.

import { DomainError } from '../../../domain/errors.ts'
import type { FormMarks } from '../../../services/pushes/form-marks.ts'
import { newIdempotencyKey, type PresentedKey } from '../../../services/pushes/idempotency.ts'
import { keyScopeOf } from '../../intake/idempotency-key.ts'
import type { Guest } from '../frame/guest.ts'

/** What was typed, by the names of the fields; '' for a field that was left empty. */
export type Typed = (field: string) => string

/** What the form carries unseen. */
export type Unseen = {
  idempotencyKey: string
  /** The mark of who opened it. */
  openedBy: string
  /** The token of the session; null for a guest who is signed out. */
  form: string | null
}

/** For a form that is opened now. */
export function newUnseen(guest: Guest, marks: FormMarks): Unseen {
  return {
    idempotencyKey: newIdempotencyKey(),
    openedBy: marks.issue(guest.viewer.account),
    form: guest.session?.formToken ?? null,
  }
}

/** For a form that somebody else sent: shown again, it stays the form of the one who opened it. */
export function openerOf(typed: Typed): Pick<Unseen, 'openedBy' | 'form'> {
  return { openedBy: typed('opened_by'), form: typed('form') }
}

/**
 * Throws, with `sender`, for a form that was opened signed in and arrives signed out or from another account. One that was
 * opened signed out may arrive signed in: the push belongs to the account.
 */
export function requireOpener({ session }: Guest, typed: Typed, marks: FormMarks): void {
  const opener = marks.read(typed('opened_by'))
  if (session === null) {
    if (typed('form') === '' && (opener?.accountId ?? null) === null) return
    throw new DomainError('unauthenticated', 'This form was opened signed in.', { sender: 'signed_out' })
  }
  const isItsOwn = session.isFormToken(typed('form')) || opener?.accountId === session.account.id
  if (isItsOwn || opener?.accountId === null) return
  throw new DomainError('forbidden', 'This form belongs to another session.', { sender: 'somebody_else' })
}

/** Null for a form without a key. The key of a form that was opened signed out stays that of its address. */
export function keyOfForm(guest: Guest, typed: Typed, marks: FormMarks): PresentedKey | null {
  const key = typed('idempotency_key')
  if (key === '') return null
  const isOpenedSignedOut = marks.read(typed('opened_by'))?.accountId === null
  const { viewer } = guest
  return { key, scope: keyScopeOf(isOpenedSignedOut ? { ...viewer, account: null } : viewer) }
}
