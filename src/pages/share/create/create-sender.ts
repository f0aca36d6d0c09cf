// Checks, with hidden fields, that the create form is sent by the person who opened it.

import { DomainError } from '../../../domain/errors.ts'
import { keyScopeOf, newIdempotencyKey, type PresentedKey } from '../../../pushes/idempotency.ts'
import type { FormMarks } from '../../../pushes/page-seals.ts'
import type { Guest } from '../../frame/guest.ts'

/** Returns the typed value of a field; '' if it is empty. */
export type Typed = (field: string) => string

/** The hidden fields. */
export type Unseen = {
  idempotencyKey: string
  /** The sealed mark of the opener. */
  openedBy: string
  /** The session's form token; null for a guest who is signed out. */
  form: string | null
}

/** Returns the hidden fields of a newly opened form. */
export function newUnseen(guest: Guest, marks: FormMarks): Unseen {
  return {
    idempotencyKey: newIdempotencyKey(),
    openedBy: marks.issue(guest.viewer.account),
    form: guest.session?.formToken ?? null,
  }
}

/** Returns the hidden fields as sent: a form sent by another person still belongs to its opener. */
export function openerOf(typed: Typed): Pick<Unseen, 'openedBy' | 'form'> {
  return { openedBy: typed('opened_by'), form: typed('form') }
}

/**
 * Throws an error with the detail `sender` if the form was opened signed in and is sent signed out or from
 * another account. A form opened signed out may be sent signed in; the push then belongs to the account.
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

/**
 * Returns the form's idempotency key; null if it has none. For a form that was opened signed out, the key
 * belongs to its address, not to an account.
 */
export function keyOfForm(guest: Guest, typed: Typed, marks: FormMarks): PresentedKey | null {
  const key = typed('idempotency_key')
  if (key === '') return null
  const isOpenedSignedOut = marks.read(typed('opened_by'))?.accountId === null
  const { viewer } = guest
  return { key, scope: keyScopeOf(isOpenedSignedOut ? { ...viewer, account: null } : viewer) }
}
