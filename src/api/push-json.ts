// Presents a push as JSON. Decides which members each answer has.

import type { AuditEntry } from '../domain/audit.ts'
import type { FileFacts } from '../domain/files.ts'
import { daysRemaining, isExpired, type Push, viewsRemaining } from '../domain/push.ts'
import { formatTime } from '../domain/time.ts'
import { FILES, PREVIOUS_FAMILIES, secretLink } from '../http/urls.ts'
import type { CreatedPush } from '../pushes/create-push.ts'
import type { GrantedFile } from '../pushes/downloads.ts'
import type { LabelledPush, LinkedPush } from '../pushes/owner-lists.ts'
import type { AnswerBody } from './answer-tables.ts'

type PresentOptions = { linkBase: string; now: number }

/** The members that all answers with a push share. */
function presentPush({ push, urlToken }: LinkedPush, { linkBase, now }: PresentOptions) {
  const isOver = isExpired(push, now)
  return {
    url_token: urlToken,
    html_url: secretLink({ push, urlToken }, linkBase),
    json_url: `${linkBase}${PREVIOUS_FAMILIES.p.retrieve.href({ url_token: urlToken })}`,
    kind: push.kind,
    created_at: formatTime(push.createdAt),
    updated_at: formatTime(push.updatedAt),
    expire_after_days: push.expireAfterDays,
    expire_after_views: push.expireAfterViews,
    days_remaining: daysRemaining(push, now),
    views_remaining: viewsRemaining(push),
    expires_at: formatTime(push.expiresAt),
    expired: isOver,
    expired_on: isOver ? formatTime(push.expiredOn ?? push.expiresAt) : null,
    deleted: push.deleted,
    deletable_by_viewer: push.deletableByViewer,
    retrieval_step: push.retrievalStep,
    passphrase: null,
    passphrase_required: push.passphraseRequired,
    ...presentEndToEnd(push),
  }
}

/** Presents what anyone with the link may see before opening it. */
export function presentPreview(
  { push, urlToken }: LinkedPush,
  options: PresentOptions,
): AnswerBody<'Preview'> {
  return {
    url: secretLink({ push, urlToken }, options.linkBase),
    expired: isExpired(push, options.now),
    passphrase_required: push.passphraseRequired,
    ...presentEndToEnd(push),
  }
}

/** The members that only an end-to-end push has. */
function presentEndToEnd({ encryptedBy, keyCheck }: Push) {
  if (encryptedBy !== 'sender') return null
  return keyCheck === null ? { end_to_end: true } : { end_to_end: true, key_check: keyCheck }
}

/** Presents the answer to a create: with name and note, never with the payload. */
export function presentCreated(created: CreatedPush, linkBase: string): AnswerBody<'CreatedPush'> {
  return {
    ...presentListed(created, { linkBase, now: created.push.createdAt }),
    files: created.files.map(presentFile),
    ...(created.code === null ? {} : { code: created.code }),
  }
}

/** Presents a push in its owner's lists. */
export function presentListed(listed: LabelledPush, options: PresentOptions): AnswerBody<'ListedPush'> {
  const { name, note, request } = listed
  const presented = { ...presentPush(listed, options), name, note }
  // `request` is null after a restore, which removes the tokens of requests.
  return request === null ? presented : { ...presented, received: true, request: request || null }
}

/** Presents a view. The last allowed view still presents the push as live. */
export function presentView(viewed: Viewed, options: PresentOptions): AnswerBody<'RetrievedPush'> {
  const files = viewed.files.map((file) => ({
    ...presentFile(file),
    url: `${options.linkBase}${FILES.download.href({ grant: file.grant })}`,
  }))
  return { ...presentPush(viewed, options), expired: false, expired_on: null, payload: viewed.payload, files }
}

type Viewed = LinkedPush & { payload: string; files: GrantedFile[] }

export function presentExpired(expired: LinkedPush, options: PresentOptions): AnswerBody<'RetrievedPush'> {
  return { ...presentPush(expired, options), payload: null, files: [] }
}

export function presentDeleted(deleted: LinkedPush, options: PresentOptions): AnswerBody<'DeletedPush'> {
  return { ...presentPush(deleted, options), files: [] }
}

export function presentEntry({ ip, userAgent, referrer, kind, at }: AuditEntry): Entry {
  const time = formatTime(at)
  return { ip, user_agent: userAgent, referrer, kind, created_at: time, updated_at: time }
}

type Entry = AnswerBody<'AuditLog'>['logs'][number]

function presentFile({ filename, contentType, size }: FileFacts) {
  return { filename, content_type: contentType, size }
}
