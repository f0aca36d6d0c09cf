// The backups on the administration page: how the last one went, what is wrong and what to do, and a button for the next.

import type { BackupStatus } from '../../backup/backups.ts'
import { DomainError } from '../../domain/errors.ts'
import { answerSeeOther } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import type { Words } from '../../words/words.ts'
import { ButtonForm } from '../frame/fields.tsx'
import type { Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Chip, Moment, Notice } from '../frame/parts.tsx'

export type BackupsProps = {
  guest: Member
  /** Null for a server that makes none. */
  status: BackupStatus | null
  /** Whether a database server keeps the data. */
  isOnServer: boolean
}

export function Backups({ guest, status, isOnServer }: BackupsProps) {
  const { words } = guest
  const { say } = words
  return (
    <section class="card" aria-labelledby="backups">
      <h2 id="backups">{say('backups_title')}</h2>
      {isOnServer ? (
        <p>{say('backups_server')}</p>
      ) : status === null ? (
        <p>
          <WithFlag say={(flag) => say('backups_none', { flag })} flag="--backup-dir" />
        </p>
      ) : (
        <>
          <Trouble status={status} words={words} />
          <Facts status={status} words={words} />
          <div class="actions">
            <ButtonForm guest={guest} action={PAGES.backUp.href()} label={say('backup_now')} />
          </div>
        </>
      )}
    </section>
  )
}

type StatusProps = { status: BackupStatus; words: Words }

function Trouble({ status, words }: StatusProps) {
  const { say } = words
  const { failure, isOverdue, last, showsKey } = status
  return (
    <>
      {failure === null ? null : (
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
      {failure === null && isOverdue ? <Warning kind="bad">{say('backup_overdue')}</Warning> : null}
      {last?.isSameDisk ? <Warning kind="low">{say('backup_same_disk')}</Warning> : null}
      {showsKey ? (
        <Warning kind="low">
          <WithFlag say={(flag) => say('backup_shows_key', { flag })} flag="--backup-recipient" />
        </Warning>
      ) : null}
    </>
  )
}

function Warning({ kind, children }: { kind: 'bad' | 'low'; children: Children }) {
  return (
    <Notice kind={kind}>
      <p>{children}</p>
    </Notice>
  )
}

/** In no text of a language. */
const MARK = '\uE000'

/** A text with a flag, which is written from left to right in every language and is not broken. */
function WithFlag({ say, flag }: { say: (flag: string) => string; flag: string }) {
  const [before, after] = say(MARK).split(MARK)
  const written = (
    <code class="flag" dir="ltr">
      {flag}
    </code>
  )
  return (
    <>
      {before}
      {after === undefined ? null : written}
      {after}
    </>
  )
}

function Facts({ status, words }: StatusProps) {
  const { say } = words
  const { folder, keep, last, recipients } = status
  return (
    <dl class="facts">
      <Last status={status} words={words} />
      <dt>{say('backup_next')}</dt>
      <dd>
        <Next status={status} words={words} />
      </dd>
      <dt>{say('backup_folder')}</dt>
      <dd>
        <code dir="ltr">{folder}</code>
      </dd>
      <dt>{say('backup_kept')}</dt>
      <dd>{say('backup_kept_of', { n: last?.kept ?? 0, most: keep })}</dd>
      <dt>{say('backup_sealed')}</dt>
      <dd>
        {recipients.length === 0 ? (
          <Chip tone="low">{say('backup_unsealed')}</Chip>
        ) : (
          say('backup_sealed_for', { n: recipients.length })
        )}
      </dd>
    </dl>
  )
}

function Last({ status: { last }, words }: StatusProps) {
  const { say } = words
  if (last === null) {
    return (
      <>
        <dt>{say('backup_last')}</dt>
        <dd>{say('backup_never')}</dd>
      </>
    )
  }
  return (
    <>
      <dt>{say('backup_last')}</dt>
      <dd>
        <Moment at={last.at} words={words} />
      </dd>
      <dt>{say('backup_size')}</dt>
      <dd>{words.bytes(last.bytes)}</dd>
      <dt>{say('backup_took')}</dt>
      <dd>{words.duration(last.durationMs)}</dd>
    </>
  )
}

function Next({ status: { making, nextAt }, words }: StatusProps) {
  if (making !== null) {
    return (
      <>
        {words.say('backup_making')} <Moment at={making} words={words} />
      </>
    )
  }
  return nextAt === null ? null : <Moment at={nextAt} words={words} />
}

/** `makeBackup` is null for a server that makes no backups. */
export type BackUpOptions = { makeBackup: ((by: { accountId: number }) => void) | null }

/** The button that begins a backup at once. */
export function createBackUp({ makeBackup }: BackUpOptions) {
  return (guest: Member): Response => {
    if (makeBackup === null) throw new DomainError('not_found', 'not-found')
    makeBackup({ accountId: guest.account.id })
    return answerSeeOther(guest.href(`${PAGES.admin.href()}#backups`))
  }
}
