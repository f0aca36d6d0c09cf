// Checks that the person who sends the create form is the one who opened it, by hidden fields of the form.

import { DomainError } from '../../../domain/errors.ts'
import { keyScopeOf, newIdempotencyKey, type PresentedKey } from '../../../pushes/idempotency.ts'
import type { FormMarks } from '../../../pushes/page-seals.ts'
import type { Guest } from '../../frame/guest.ts'

/** The typed values by field name; '' for an empty field. */
export type Typed = (field: string) => string

/** The hidden fields. */
export type Unseen = {
  idempotencyKey: string
  /** The mark that tells who opened the form. */
  openedBy: string
  /** The form token of the session; null for a guest who is signed out. */
  form: string | null
}

/** Hidden fields for a form that is opened now. */
export function newUnseen(guest: Guest, marks: FormMarks): Unseen {
  return {
    idempotencyKey: newIdempotencyKey(),
    openedBy: marks.issue(guest.viewer.account),
    form: guest.session?.formToken ?? null,
  }
}

/** Keeps the hidden fields when somebody else sent the form: it still belongs to the person who opened it. */
export function openerOf(typed: Typed): Pick<Unseen, 'openedBy' | 'form'> {
  return { openedBy: typed('opened_by'), form: typed('form') }
}

/**
 * Throws, with `sender`, for a form that was opened signed in and is sent signed out or from another account.
 * A form that was opened signed out may be sent signed in: then the push belongs to the account.
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
 * Null for a form without a key. A form that was opened signed out has a key of its address, not of an
 * account.
 */
export function keyOfForm(guest: Guest, typed: Typed, marks: FormMarks): PresentedKey | null {
  const key = typed('idempotency_key')
  if (key === '') return null
  const isOpenedSignedOut = marks.read(typed('opened_by'))?.accountId === null
  const { viewer } = guest
  return { key, scope: keyScopeOf(isOpenedSignedOut ? { ...viewer, account: null } : viewer) }
}
