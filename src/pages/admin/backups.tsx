// The backups on the administration page: the last result, problems with their remedies, and a button for the
// next backup.

import type { BackupStatus } from '../../backup/backups.ts'
import { DomainError } from '../../domain/errors.ts'
import { PAGES } from '../../http/urls.ts'
import type { Words } from '../../words/words.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { type Fact, Facts } from '../frame/lists.tsx'
import { Card, Chip, Moment, Notice, withFlag } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

type BackupsProps = {
  guest: Member
  /** The state of the backups; null if the server makes none. */
  status: BackupStatus | null
  /** Whether the rows are in PostgreSQL. */
  isOnServer: boolean
}

export function Backups({ guest, status, isOnServer }: BackupsProps) {
  const { words, say } = guest
  return (
    <Card id="backups" title={say('backups_title')}>
      {isOnServer ? (
        <p>{say('backups_server')}</p>
      ) : status === null ? (
        <p>{withFlag(say('backups_none'), '--backup-dir')}</p>
      ) : (
        <>
          <BackupNotices status={status} words={words} />
          <Facts of={factsOf(status, words)} />
          <div class="actions">
            <ButtonForm guest={guest} action={PAGES.backUp.href()} label={say('backup_now')} />
          </div>
        </>
      )}
    </Card>
  )
}

type StatusProps = { status: BackupStatus; words: Words }

function BackupNotices({ status: { failure, isOverdue, last, showsKey }, words }: StatusProps) {
  const { say } = words
  return (
    <>
      {failure && (
        <Notice kind="bad">
          <p>
            <strong>{say('backup_failed')}</strong> <Moment at={failure.at} words={words} />
          </p>
          <p lang="en" dir="ltr">
            {failure.said}
          </p>
          <p>{say('backup_again')}</p>
        </Notice>
      )}
      {failure === null && isOverdue && <Notice kind="bad">{say('backup_overdue')}</Notice>}
      {last?.isSameDisk && <Notice kind="low">{say('backup_same_disk')}</Notice>}
      {showsKey && (
        <Notice kind="low">
          <p>{withFlag(say('backup_shows_key'), '--backup-recipient')}</p>
        </Notice>
      )}
    </>
  )
}

function factsOf({ making, nextAt, folder, keep, last, recipients }: BackupStatus, words: Words): Fact[] {
  const { say } = words
  const moment = (at: number) => <Moment at={at} words={words} />
  const done: Fact[] =
    last === null
      ? [[say('backup_last'), say('backup_never')]]
      : [
          [say('backup_last'), moment(last.at)],
          [say('backup_size'), words.bytes(last.bytes)],
          [say('backup_took'), words.duration(last.durationMs)],
        ]
  const next =
    making === null ? nextAt !== null && moment(nextAt) : [say('backup_making'), ' ', moment(making)]
  const sealed = say('backup_sealed_for', { n: recipients.length })
  return [
    ...done,
    [say('backup_next'), next],
    [say('backup_folder'), <code dir="ltr">{folder}</code>],
    [say('backup_kept'), say('backup_kept_of', { n: last?.kept ?? 0, most: keep })],
    [say('backup_sealed'), recipients.length > 0 ? sealed : <Chip tone="low">{say('backup_unsealed')}</Chip>],
  ]
}

/** `makeBackup` is null if the server makes no backups. */
export type BackUpOptions = { makeBackup: ((by: { accountId: number }) => void) | null }

/** Handles the button that starts a backup now. */
export function createBackUp({ makeBackup }: BackUpOptions) {
  return (guest: Member): Response => {
    if (makeBackup === null) throw new DomainError('not_found', 'not-found')
    makeBackup({ accountId: guest.account.id })
    return leadTo(guest, `${PAGES.admin.href()}#backups`)
  }
}
