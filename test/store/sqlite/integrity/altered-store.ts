// What the tests of altered rows share: a store whose database a test alters, and ways to read it.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach } from 'bun:test'
import { join } from 'node:path'
import { alterDatabase } from '../../../support/damage.ts'
import { openTestStore, type TestStore } from '../../../support/store.ts'

export function useAlteredStore() {
  let opened: TestStore

  beforeEach(async () => {
    opened = await openTestStore()
  })
  afterEach(() => opened.close())

  /** Opens the store again; returns what it reports of damage. */
  async function reopen(): Promise<string[]> {
    const told: string[] = []
    await opened.store.close()
    const onError = (cause: unknown) => told.push(String(cause))
    opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock, onError })
    return told
  }

  function idsOf(some: { lookup: Uint8Array }[]): Promise<(number | null)[]> {
    const { findPush } = opened.store.pushes
    return Promise.all(some.map(async ({ lookup }) => (await findPush(lookup))?.id ?? null))
  }

  async function readLog(id: number) {
    return (await Array.fromAsync(opened.store.audit.readAll({ id }))).flat()
  }

  function lastEntryOf(id: number): number {
    const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
    const sql = `SELECT last_entry AS lastEntry FROM pushes WHERE id = ${id}`
    const found = database.query<{ lastEntry: number }, []>(sql).get()
    database.close()
    return found?.lastEntry ?? 0
  }

  async function addTwoAccounts(): Promise<void> {
    for (const email of ['ann@example.org', 'bob@example.org'])
      await opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: email.startsWith('ann') })
  }

  const at = {
    get opened() {
      return opened
    },
    set opened(another: TestStore) {
      opened = another
    },
  }
  return {
    at,
    alter: (statement: string) => alterDatabase(opened.dataDir, statement),
    reopen,
    idsOf,
    readLog,
    lastEntryOf,
    addTwoAccounts,
  }
}
