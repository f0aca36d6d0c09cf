// What another server gives up: accounts and pushes on their way into this one, as its reader finds them.

import type { EntryToImport } from '../domain/audit.ts'
import type { PushKind } from '../domain/push.ts'

/** A value that was sealed there: '' when it was empty, null when no key opens it. */
export type Unsealed = string | null

/** `open` yields the content once, and throws IncomingProblem when it is not as it was stored there. */
export type FileToImport = {
  filename: string
  contentType: string
  size: number
  open: () => AsyncIterable<Uint8Array>
}

/** `id` is the other server's. Times are milliseconds since 1970. */
export type IncomingPush = {
  id: number
  urlToken: string
  kind: PushKind
  /** The other server's id of the owner; null for an anonymous push. */
  ownerId: number | null
  name: string
  note: Unsealed
  payload: Unsealed
  passphrase: Unsealed
  createdAt: number
  updatedAt: number
  expireAfterDays: number
  expireAfterViews: number
  expired: boolean
  expiredOn: number | null
  deletableByViewer: boolean | null
  retrievalStep: boolean
  /** Oldest first, without those of a kind that is not known here. */
  entries: EntryToImport[]
  files: FileToImport[]
}

export type IncomingAccount = {
  id: number
  email: string
  /** bcrypt. */
  passwordHash: string
  /** '' without one. */
  apiToken: string
  isAdmin: boolean
  /** Locked there, or never confirmed. */
  isStopped: boolean
  /** The secret of the second factor, in base32; null without one. */
  totp: { secret: Unsealed; lastStep: number | null } | null
  createdAt: number
}

/** A row that cannot be read, and why. */
export type Unreadable = { id: number; problem: string }

export type IncomingSource = {
  /** The schema's version, for the report. */
  version: string
  /** How many there are. */
  pushes: number
  /** Whether any sealed value opens; null when there is none. */
  opens: boolean | null
  /** Whether the published key, which everybody knows, has opened a value of what was read so far. */
  hasDefaultKey(): boolean
  /** Sentences for the operator about the source as a whole. */
  warnings: string[]
  readAccounts(): AsyncIterable<IncomingAccount>
  /** In the order of their creation there. One after another: a push is not kept. */
  readPushes(): AsyncGenerator<IncomingPush | Unreadable>
  close(): Promise<void>
}

/** Why one push or file cannot come; the rest can. */
export class IncomingProblem extends Error {}

export function isUnreadable(row: object): row is Unreadable {
  return 'problem' in row
}
