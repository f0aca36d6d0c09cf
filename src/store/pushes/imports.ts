// Stores what is imported from another server, within the one transaction of an import.

import type { Now } from '../../domain/time.ts'
import { findForImport, insertAccount } from '../accounts/accounts.ts'
import { importToken } from '../accounts/api-tokens.ts'
import { importTwoFactor } from '../accounts/two-factor.ts'
import type { Import, ImportLook, PushToImport } from '../import-face.ts'
import { insert, insertInto, select } from '../statements.ts'
import { first, type Step, type Steps } from '../steps.ts'
import { imported } from '../tables.ts'
import { insertPush } from './push-rows.ts'

const FIND = select(imported, 'WHERE mark = $1')
const INSERT = insertInto(imported, 'ON CONFLICT DO NOTHING')

/** What is here already. */
export function createImportLook({ read }: Pick<Steps, 'read'>): ImportLook {
  return {
    isKnown: (marks) => read(() => isKnown(marks)),
    findAccount: (email) => read(() => findForImport(email)),
  }
}

/** `within` runs a step in the transaction of the import. */
export function createImport(within: <T>(step: Step<T>) => Promise<T>, now: Now): Import {
  return {
    isKnown: (marks) => within(isKnown(marks)),
    remember: async (mark) => void (await within(insert(INSERT, { mark }))),
    findAccount: (email) => within(findForImport(email)),
    addAccount: async (account) => (await within(insertAccount(account))).id,
    setTotpSecret: (secret) => within(importTwoFactor(secret)),
    addApiToken: (token) => within(importToken({ ...token, createdAt: now() })),
    addPush: (push) => within(addPush(push)),
  }
}

function* isKnown(marks: readonly Uint8Array[]): Step<boolean> {
  for (const mark of marks) if ((yield* first(FIND, mark)) !== null) return true
  return false
}

/** The owner has seen the views that the other server counted. */
function* addPush(of: PushToImport): Step<void> {
  const entries = of.entries.map((entry) => ({ kind: entry.kind, at: entry.at, visit: entry }))
  yield* insertPush(of, { entries, seenViews: of.push.views, hasRoom: true })
}
