// Stores what is imported from another server, in one transaction.

import { eq } from 'drizzle-orm'
import type { Now } from '../../../domain/time.ts'
import type { Import, ImportStore, PushToImport } from '../../import-face.ts'
import { insertRow, updateRow } from '../accounts/account-rows.ts'
import { insertToken } from '../accounts/api-tokens.ts'
import type { Connection } from '../engine/database.ts'
import type { TransactAlone } from '../engine/group-commit.ts'
import { prepareFind, prepareInsert } from '../engine/prepared.ts'
import { accounts, apiTokens, imported } from '../engine/schema.ts'
import type { FileRows } from '../files/file-rows.ts'
import type { PushRows } from '../pushes/push-rows.ts'

/** What is here already. */
export function createImportLook({ orm, database }: Connection): ImportStore['look'] {
  const findMark = prepareFind(database, imported, 'mark')

  async function isKnown(marks: readonly Uint8Array[]): Promise<boolean> {
    return marks.some((mark) => findMark(Buffer.from(mark)) !== undefined)
  }

  async function findAccount(email: string) {
    const { id, isAdmin } = accounts
    return orm.select({ id, isAdmin }).from(accounts).where(eq(accounts.email, email)).get() ?? null
  }

  return { isKnown, findAccount }
}

export function createImports(options: {
  connection: Connection
  rows: Pick<PushRows, 'insertWithLog' | 'insertLabels'>
  files: Pick<FileRows, 'attach'>
  transactAlone: TransactAlone
  now: Now
}): ImportStore {
  const { rows, files, transactAlone, now } = options
  const { orm, database } = options.connection
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

  function freeName(accountId: number, name: string): string {
    const tokens = orm.select().from(apiTokens).where(eq(apiTokens.accountId, accountId)).all()
    const taken = new Set(tokens.map((token) => token.name))
    let free = name
    for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`
    return free
  }

  const step: Import = {
    ...look,
    remember: async ({ mark, keyNumber }) => insertMark({ mark, keyNumber }),
    addAccount: async (account) => insertRow({ orm }, { ...account, lastSignInAt: 0 }).id,
    setTotpSecret: async ({ accountId: id, sealedSecret, step: totpStep }) =>
      void updateRow({ orm }, { id, set: { totpSecret: sealedSecret, totpStep } }),
    addApiToken: async ({ accountId, name, hash }) => {
      const same = orm.select({ id: apiTokens.id }).from(apiTokens).where(eq(apiTokens.hash, hash)).get()
      if (same !== undefined) return
      const free = freeName(accountId, name)
      insertToken({ orm }, { accountId, name: free, prefix: '', hash, createdAt: now(), lastUsedAt: null })
    },
    addPush,
  }

  return {
    importAll: (work) => transactAlone(() => work(step)),
    isKnown: look.isKnown,
    look,
  }
}
