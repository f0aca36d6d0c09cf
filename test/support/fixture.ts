// A real data folder of Password Pusher 2.11, and the expected result of its import.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const FIXTURE = resolve(import.meta.dir, '../fixtures/password-pusher')
export const FIXTURE_DATABASE = join(FIXTURE, 'storage/db/production.sqlite3')

export type ExpectedAccount = {
  email: string
  password: string
  admin: boolean
  api_token: string
  totp_secret: string | null
}
export type ExpectedPush = {
  label: string
  url_token: string
  kind: string
  owner: string | null
  name: string
  note: string
  payload: string | null
  passphrase: string | null
  expire_after_days: number
  expire_after_views: number
  days_remaining: number
  views_remaining: number
  retrieval_step: boolean
  deletable_by_viewer: boolean
  expired: boolean
  expired_on: string | null
  created_at: string
  deleted: boolean
  files: { filename: string; bytes: number; sha256: string }[]
  audit: { kind: string; ip: string; user_agent: string; at: string }[]
}
export type Expected = { as_of: string; accounts: ExpectedAccount[]; pushes: ExpectedPush[] }

export const expected: Expected = JSON.parse(readFileSync(join(FIXTURE, 'expected.json'), 'utf8'))
export const asOf = Date.parse(expected.as_of)
/** The label of a push whose time is up but which the old server had not expired yet. */
const OVERDUE = 'expired by days, not yet swept'

/** Whether a push has expired, even if the old server had not noticed it. */
export function isOver(push: Pick<ExpectedPush, 'expired' | 'label'>): boolean {
  return push.expired || push.label === OVERDUE
}
