// Converts a push of another server to a push here. Pure: reads and stores nothing.

import { isShortUrlToken } from '../crypto/url-token.ts'
import type { EntryToImport } from '../domain/audit.ts'
import { cleanFilename, MAX_FILENAME_CHARACTERS } from '../domain/files.ts'
import { isFromAhead, type Push, type PushKind, UNTOUCHED } from '../domain/push.ts'
import { DAY } from '../domain/time.ts'
import { isWebAddress } from '../text/web-address.ts'
import type { IncomingPush } from './incoming.ts'

/** `live` is null for an expired push, which has no payload. `notes` name the differences to the original. */
export type PlannedPush = {
  push: Push
  live: { payload: string; passphrase: string | null } | null
  name: string
  note: string
  notes: string[]
}

export type Plan = PlannedPush | { problem: string }

/** A hundred years: beyond that a date is a mistake. */
const MAX_DAYS = 36_525
const MAX_VIEWS = 1_000_000_000

/** Plans a push. `push.ownerId` is null, because only the caller knows the accounts. */
export function planPush(incoming: IncomingPush, now: number): Plan {
  const problem = problemOf(incoming)
  if (problem !== null) return { problem }
  const { expireAfterDays, expireAfterViews } = incoming
  const createdAt = isFromAhead(incoming, now) ? now : incoming.createdAt
  const looks = incoming.entries.filter(isCounted)
  const expiresAt = createdAt + expireAfterDays * DAY
  const expiredOn = endOf(incoming, { looks, expiresAt, now })
  const live = expiredOn === null ? liveOf(incoming) : null
  if (live !== null && 'problem' in live) return live
  const { kind, notes } = kindOf(incoming, live?.payload ?? null)
  if (createdAt !== incoming.createdAt) notes.push('it was created in the future, and lives from now on')
  if (incoming.note === null) notes.push('its note opens with none of the keys and does not come')
  const push: Push = {
    ...UNTOUCHED,
    kind,
    ownerId: null,
    createdAt,
    updatedAt: Math.max(createdAt, Math.min(incoming.updatedAt, now)),
    expiresAt,
    expireAfterDays,
    expireAfterViews,
    views: Math.min(looks.length, expireAfterViews),
    lastViewedAt: lastOf(incoming.entries.filter(({ kind }) => kind === 'view')),
    deletableByViewer: incoming.deletableByViewer,
    retrievalStep: incoming.retrievalStep,
    showsSender: false,
    codeRequired: false,
    encryptedBy: null,
    keyCheck: null,
    passphraseRequired: live !== null && live.passphrase !== null,
    wrongTriesSince: createdAt,
    expiredOn,
    deleted: incoming.expired && incoming.entries.some(({ kind }) => kind === 'expire'),
  }
  return { push, live, name: incoming.name, note: incoming.note ?? '', notes }
}

function problemOf(incoming: IncomingPush): string | null {
  const { urlToken, expireAfterDays, expireAfterViews, createdAt } = incoming
  if (!isShortUrlToken(urlToken)) return 'its token is not 11 to 19 of a-z, 0-9, _ and -'
  if (createdAt < 0) return 'the time of its creation cannot be read'
  const isOdd = expireAfterDays > MAX_DAYS || expireAfterViews > MAX_VIEWS
  return isOdd ? 'its limits in days and views cannot be read' : null
}

/** Whether the other server counts the entry as a view. It counts failed views, too. */
function isCounted({ kind }: EntryToImport): boolean {
  return kind === 'view' || kind === 'failed_view'
}

type ViewHistory = { looks: EntryToImport[]; expiresAt: number; now: number }

/**
 * Returns when the push ended; null while it is live. The other server may not have recorded its expiry yet.
 */
function endOf(incoming: IncomingPush, { looks, expiresAt, now }: ViewHistory): number | null {
  const { expired, expiredOn, updatedAt, expireAfterViews } = incoming
  if (expired) return Math.min(expiredOn ?? updatedAt, expiresAt)
  if (looks.length >= expireAfterViews) return Math.min(lastOf(looks.slice(0, expireAfterViews)), expiresAt)
  return expiresAt <= now ? expiresAt : null
}

function lastOf(entries: EntryToImport[]): number {
  return entries.reduce((latest, { at }) => Math.max(latest, at), 0)
}

function liveOf(push: IncomingPush): PlannedPush['live'] | { problem: string } {
  const { payload, passphrase, kind, files } = push
  if (payload === null) return { problem: 'its content opens with none of the keys' }
  if (passphrase === null) return { problem: 'its passphrase opens with none of the keys' }
  const isEmpty = kind === 'file' && files.length === 0 && payload === ''
  if (isEmpty) return { problem: 'it has neither files nor a text' }
  return { payload, passphrase: passphrase === '' ? null : passphrase }
}

/** Returns `text` for a URL push whose payload is not http or https, so that browsers do not follow it. */
function kindOf({ kind }: IncomingPush, payload: string | null): { kind: PushKind; notes: string[] } {
  if (kind !== 'url' || payload === null || isWebAddress(payload)) return { kind, notes: [] }
  return { kind: 'text', notes: ['its address is not http or https: it comes as a text'] }
}

/** A file's name as it is stored here. */
export function filenameOf(filename: string): string {
  return [...cleanFilename(filename)].slice(0, MAX_FILENAME_CHARACTERS).join('')
}
