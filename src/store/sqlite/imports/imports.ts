// Stores what is imported from another server, in one transaction.

import type { Now } from '../../../domain/time.ts'
import { findForImport, insertAccount } from '../../accounts/accounts.ts'
import { importToken } from '../../accounts/api-tokens.ts'
import { importTwoFactor } from '../../accounts/two-factor.ts'
import type { Import, ImportStore, PushToImport } from '../../import-face.ts'
import type { Connection } from '../engine/database.ts'
import type { TransactAlone } from '../engine/group-commit.ts'
import { prepareFind, prepareInsert } from '../engine/prepared.ts'
import { createSteps } from '../engine/run-steps.ts'
import { imported } from '../engine/schema.ts'
import type { FileRows } from '../files/file-rows.ts'
import type { PushRows } from '../pushes/push-rows.ts'

/** What is here already. */
export function createImportLook({ database }: Connection): ImportStore['look'] {
  const { read } = createSteps(database, refuseToWrite)
  const findMark = prepareFind(database, imported, 'mark')

  async function isKnown(marks: readonly Uint8Array[]): Promise<boolean> {
    return marks.some((mark) => findMark(Buffer.from(mark)) !== undefined)
  }

  return { isKnown, findAccount: (email) => read(() => findForImport(email)) }
}

export function createImports(options: {
  connection: Connection
  rows: Pick<PushRows, 'insertWithLog' | 'insertLabels'>
  files: Pick<FileRows, 'attach'>
  transactAlone: TransactAlone
  now: Now
}): ImportStore {
  const { rows, files, transactAlone, now } = options
  const { database } = options.connection
  const { within } = createSteps(database, refuseToWrite)
  const look = createImportLook(options.connection)
  const insertMark = prepareInsert(database, imported)

  async function addPush({
    push,
    lookup,
    keyNumber,
    secrets,
    labels,
    ...parts
  }: PushToImport): Promise<void> {
    const entries = parts.entries.map(({ kind, at, ...visit }) => ({ kind, at, visit }))
    const row = rows.insertWithLog(
      { ...push, lookup, keyNumber, files: parts.files.length },
      secrets,
      entries,
    )
    // The owner has seen the views that the other server counted.
    if (labels !== null) rows.insertLabels({ pushId: row.id, ...labels, seenViews: push.views })
    files.attach(parts.files.map((file, n) => ({ pushId: row.id, n, ...file })))
  }

  const step: Import = {
    ...look,
    remember: async ({ mark, keyNumber }) => insertMark({ mark, keyNumber }),
    addAccount: async (account) => within(insertAccount(account)).id,
    setTotpSecret: async (secret) => within(importTwoFactor(secret)),
    addApiToken: async (token) => within(importToken({ ...token, createdAt: now() })),
    addPush,
  }

  return {
    importAll: (work) => transactAlone(() => work(step)),
    isKnown: look.isKnown,
    look,
  }
}

/** The import writes within its own transaction. */
function refuseToWrite(): never {
  throw new Error('an import writes in one transaction')
}
