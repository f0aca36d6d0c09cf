// Stores what is imported from another server, within the one transaction of an import.

import type { Now } from '../../domain/time.ts'
import { findForImport, insertAccount } from '../accounts/accounts.ts'
import { importToken } from '../accounts/api-tokens.ts'
import { importTwoFactor } from '../accounts/two-factor.ts'
import type { Import, ImportLook, ImportStore, PushToImport } from '../import-contract.ts'
import { insertUnlessThere, select } from '../statements.ts'
import { type Alone, has, type Parts, type Run, type Step } from '../steps.ts'
import { imported } from '../tables.ts'
import { insertPush } from './push-rows.ts'

const FIND = select(imported, 'WHERE mark = $1')
const insert = insertUnlessThere(imported)

export function createImports({
  alone,
  ...parts
}: Pick<Parts, 'steps' | 'now'> & { alone: Alone }): ImportStore {
  return {
    importAll: (work) => alone((run) => work(createImport(run, parts.now))),
    isKnown: createImportLook(parts.steps).isKnown,
  }
}

/** What is here already. */
export function createImportLook({ read }: Pick<Parts['steps'], 'read'>): ImportLook {
  return {
    isKnown: (marks) => read(() => isKnown(marks)),
    findAccount: (email) => read(() => findForImport(email)),
  }
}

function createImport(run: Run, now: Now): Import {
  return {
    isKnown: (marks) => run(isKnown(marks)),
    remember: async (mark) => void (await run(insert({ mark }))),
    findAccount: (email) => run(findForImport(email)),
    addAccount: async (account) => (await run(insertAccount(account))).id,
    setTotpSecret: (secret) => run(importTwoFactor(secret)),
    addApiToken: (token) => run(importToken({ ...token, createdAt: now() })),
    addPush: (push) => run(addPush(push)),
  }
}

function* isKnown(marks: readonly Uint8Array[]): Step<boolean> {
  for (const mark of marks) if (yield* has(FIND, mark)) return true
  return false
}

/** The owner has seen the views that the other server counted. */
function* addPush(of: PushToImport): Step<void> {
  const entries = of.entries.map((entry) => ({ kind: entry.kind, at: entry.at, visit: entry }))
  yield* insertPush(of, { entries, seenViews: of.push.views, hasRoom: true })
}
