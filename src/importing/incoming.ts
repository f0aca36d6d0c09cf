// Accounts and pushes of another server, as its reader finds them.

import type { EntryToImport } from '../domain/audit.ts'
import type { PushKind } from '../domain/push.ts'

/** A decrypted value of the other server: '' when it was empty, null when no key opens it. */
export type Unsealed = string | null

/** A file to import. `open` yields the content once, and throws IncomingProblem when it is damaged. */
export type FileToImport = {
  filename: string
  contentType: string
  size: number
  open: () => AsyncIterable<Uint8Array>
}

/** A push to import. `id` is the other server's. Times are milliseconds since 1970. */
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
  /** The audit log, oldest entry first, without entries of unknown kinds. */
  entries: EntryToImport[]
  files: FileToImport[]
}

export type IncomingAccount = {
  id: number
  email: string
  /** The password's bcrypt hash. */
  passwordHash: string
  /** The API token; '' without one. */
  apiToken: string
  isAdmin: boolean
  /** Whether the account was locked on the other server, or never confirmed. */
  isStopped: boolean
  /** The secret of the second factor, in base32; null without one. */
  totp: { secret: Unsealed; lastStep: number | null } | null
  /** The tag of the account's language on the other server; '' if it has none. */
  language: string
  createdAt: number
}

/** A row that cannot be read, and why. */
export type Unreadable = { id: number; problem: string }

export type IncomingSource = {
  /** The schema's version, for the report. */
  version: string
  /** The number of pushes. */
  pushes: number
  /** Whether the keys open any sealed value; null if there is none. */
  opens: boolean | null
  /** Whether the published key has opened a value that was read so far. */
  hasDefaultKey(): boolean
  /** Warnings for the operator about the source as a whole. */
  warnings: string[]
  readAccounts(): AsyncIterable<IncomingAccount>
  /** Yields pushes in the order of their creation, without keeping them in memory. */
  readPushes(): AsyncGenerator<IncomingPush | Unreadable>
  close(): Promise<void>
}

/** Thrown if one push or file cannot be imported. The others still can. */
export class IncomingProblem extends Error {}

export function isUnreadable(row: object): row is Unreadable {
  return 'problem' in row
}
