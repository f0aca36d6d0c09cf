// Fills the folder of a stopped server with pushes, in a fraction of the time that as many creates take.

import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseKeyFile } from '../../src/crypto/keyring.ts'
import { newDataKey, sealSecrets } from '../../src/crypto/push-secrets.ts'
import { lookupOf, newUrlToken } from '../../src/crypto/url-token.ts'
import { fileAll } from '../../src/store/sqlite/links.ts'
import { PUSH, type Tokens } from './requests.ts'

const IN_A_TRANSACTION = 50_000

type Values = Record<string, string | number | Uint8Array | null>
/**
 * Columns that differ between a row of the first push and its copy. Columns that the tables of another
 * version lack are left out.
 */
type Copy = { table: string; key: string; changes: (id: number, own: Own) => Values }
type Own = { lookup: Uint8Array; salt: Uint8Array; payload: Uint8Array; wrappedKey: Uint8Array }

const COPIES: readonly Copy[] = [
  { table: 'pushes', key: 'id', changes: (id, { lookup }) => ({ id, lookup }) },
  { table: 'push_state', key: 'push_id', changes: (id) => ({ push_id: id, last_entry: id }) },
  {
    table: 'push_secrets',
    key: 'push_id',
    changes: (id, { salt, payload }) => ({ push_id: id, key_slot: id, salt, payload }),
  },
  {
    table: 'push_keys',
    key: 'slot',
    changes: (id, { wrappedKey }) => ({ slot: id, wrapped_key: wrappedKey }),
  },
  // Each log has one entry.
  { table: 'audit_entries', key: 'push_id', changes: (id) => ({ id, push_id: id }) },
]

/** Copies push 1 until there are `count` pushes, each with another link. */
export function fillFolder(dataDir: string, { tokens, until }: { tokens: Tokens; until: number }): void {
  const { sealing: instanceKey } = parseKeyFile(readFileSync(join(dataDir, 'instance.key'), 'utf8'))
  using database = new Database(join(dataDir, 'oncebox.db'), { strict: true })
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -500000')
  const inserts = COPIES.map((copy) => prepareCopy(database, copy))
  const addUntil = database.transaction((last: number) => {
    for (let id = tokens.count() + 1; id <= last; id += 1) {
      const urlToken = newUrlToken()
      const pushId = lookupOf(urlToken, instanceKey.lookup)
      const opener = { instanceKey, pushId, urlToken, passphraseKey: null }
      const sealed = sealSecrets({ payload: PUSH.payload, dataKey: newDataKey() }, opener)
      for (const insert of inserts) insert(id, { lookup: pushId, ...sealed })
      tokens.add(urlToken)
    }
  })
  while (tokens.count() < until) addUntil(Math.min(until, tokens.count() + IN_A_TRANSACTION))
  fileAll(database)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

function prepareCopy(database: Database, { table, key, changes }: Copy): (id: number, own: Own) => void {
  const first = database.query<Values, []>(`SELECT * FROM ${table} WHERE ${key} = 1`).get()
  if (first === null)
    throw new Error(`the first push has no row in ${table}: fill.ts no longer fits the tables`)
  const columns = Object.keys(first)
  const insert = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`)
  return (id, own) => {
    const values: Values = { ...first, ...changes(id, own) }
    insert.run(...columns.map((column) => values[column] ?? null))
  }
}
