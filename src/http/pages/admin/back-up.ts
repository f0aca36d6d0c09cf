// The button that begins a backup at once.

import { DomainError } from '../../../domain/errors.ts'
import { answerSeeOther } from '../../answers.ts'
import { PAGES } from '../../urls.ts'
import type { Member } from '../frame/guest.ts'

/** Null for a server that makes no backups. */
export type MakeBackup = ((by: { accountId: number }) => void) | null

export function createBackUp(makeBackup: MakeBackup) {
  return (guest: Member): Response => {
    if (makeBackup === null) throw new DomainError('not_found', 'not-found')
    makeBackup({ accountId: guest.account.id })
    return answerSeeOther(guest.href(`${PAGES.admin.href()}#backups`))
  }
}
