// Backups packed by hand, and databases as they hold them, made of folders whose server has ended.

import { Database } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BackupFacts, createManifest, type MemberName } from '../../src/backup/manifest.ts'
import { memberOfBytes } from '../../src/backup/member-sources.ts'
import { type Seal, sealStream } from '../../src/backup/sealing.ts'
import { writeBackup } from '../../src/backup/writing.ts'
import { visitFrom } from '../../src/domain/audit.ts'
import { openUnpackedStore } from '../../src/store/opening/unpacked-store.ts'
import { migrate } from '../../src/store/sqlite/engine/migrate.ts'

/** The tables of what opens something. */
export const OPENING_TABLES = [
  ...['push_secrets', 'push_keys', 'push_files', 'sessions', 'account_links', 'home'],
  ...['idempotency_keys', 'idempotency_answers', 'live_shares', 'address_shares'],
]

/** Copies the database without what opens anything. */
export function copyKeyless(dataDir: string, to: string): void {
  copyFileSync(join(dataDir, 'oncebox.db'), to)
  edit(to, (database) => {
    database.run('PRAGMA journal_mode = DELETE')
    database.run('PRAGMA secure_delete = ON')
    for (const table of OPENING_TABLES) database.run(`DELETE FROM ${table}`)
    database.run('VACUUM')
  })
}

/** Changes a database that nobody has open, as somebody with the tools for it could. */
export function edit(path: string, work: (database: Database) => void): void {
  const database = new Database(path, { strict: true })
  try {
    database.run('PRAGMA foreign_keys = OFF')
    database.run('PRAGMA ignore_check_constraints = ON')
    work(database)
  } finally {
    database.close()
  }
}

const NO_END = 9_000_000_000_000

/** A database with an account, its active and its expired push, an anonymous active push, and their logs. */
export function makeDatabase(path: string): void {
  const database = new Database(path, { create: true, strict: true })
  migrate(database)
  database.run(
    "INSERT INTO accounts (id, email, password_hash, is_admin, created_at, last_sign_in_at) VALUES (7, 'ann@example.org', 'hash', 1, 100, 0)",
  )
  database.run(
    "INSERT INTO api_tokens (account_id, name, prefix, hash, created_at) VALUES (7, 'cli', 'obx', randomblob(32), 100)",
  )
  const pushes: [id: number, owner: number | null, expiredOn: number | null][] = [
    [1, 7, null],
    [2, 7, 150],
    [3, null, null],
  ]
  for (const [id, owner, expiredOn] of pushes) {
    database.run(
      `INSERT INTO pushes (id, lookup, key_number, kind, owner_id, created_at, expires_at, expire_after_days,
         expire_after_views, retrieval_step, passphrase_required, expired_on, deleted, lost, files)
       VALUES (?, randomblob(16), 1, 'text', ?, 100, ${NO_END}, 1, 5, 0, 0, ?, 0, 0, 0)`,
      [id, owner, expiredOn],
    )
    database.run("INSERT INTO push_state VALUES (?, 100, 0, 0, 0, 100, 0, 0, 1, 0, 0, 0, 0, 0, '')", [id])
    database.run("INSERT INTO audit_entries VALUES (?, 0, 'creation', 100, '192.0.2.1', '', '')", [id])
    if (owner !== null) database.run("INSERT INTO push_labels VALUES (?, x'00', x'01', NULL, 0)", [id])
  }
  database.close()
}

/** Ends every live push in a folder whose server has ended as a restore does, without a backup. */
export async function losePushes(dataDir: string, now: number): Promise<number> {
  const path = join(dataDir, 'oncebox.db')
  const copy = join(dataDir, 'copy.db')
  copyKeyless(dataDir, copy)
  const store = openUnpackedStore(copy, 'the backup')
  const visit = visitFrom({ ip: '', userAgent: 'oncebox/3.0.0 (restore)', referrer: '' })
  const lost = await store.endLive({ now, visit, onProgress: () => undefined }).finally(store.close)
  renameSync(copy, path)
  // A restored folder was served nowhere yet.
  rmSync(join(dataDir, 'serve.home'), { force: true })
  return lost
}

export type BackupParts = {
  /** Null leaves a member out; others replace what the folder gives. */
  members?: Partial<Record<MemberName, Uint8Array | string | null>>
  facts?: Partial<BackupFacts>
  seal?: Seal
}

export const MADE_AT = '2026-11-20T12:00:00.000Z'

/** The bytes of a backup of the folder, as `oncebox backup` makes it. */
export async function backupOf(dataDir: string, parts: BackupParts = {}): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-backup-'))
  const path = join(folder, 'copy.db')
  copyKeyless(dataDir, path)
  const own = (name: string) => (existsSync(join(dataDir, name)) ? readFileSync(join(dataDir, name)) : null)
  const all: Record<MemberName, Uint8Array | string | null> = {
    'settings.json': '{"settings":[]}',
    'instance.key': own('instance.key'),
    'tls-authority.pem': own('tls-authority.pem'),
    'oncebox.db': readFileSync(path),
    ...parts.members,
  }
  rmSync(folder, { recursive: true })
  return packBackup(all, parts)
}

/** `all` are its members, also of a database that no folder holds. */
export async function packBackup(
  all: Record<MemberName, Uint8Array | string | null>,
  { facts, seal }: Pick<BackupParts, 'facts' | 'seal'> = {},
): Promise<Buffer> {
  const names: MemberName[] = ['settings.json', 'instance.key', 'tls-authority.pem', 'oncebox.db']
  const sources = names.flatMap((name) => {
    const content = all[name]
    return content === null ? [] : [memberOfBytes(name, Buffer.from(content as string))]
  })
  const database = Buffer.from(all['oncebox.db'] as Uint8Array)
  const counted = { ...countsIn(database), version: '3.0.0', madeAt: MADE_AT, ...facts }
  const plain = writeBackup(createManifest(counted, sources), sources)
  const stream = seal === undefined ? plain : await sealStream(plain, seal)
  return Buffer.from(await new Response(stream).arrayBuffer())
}

function countsIn(bytes: Buffer): Pick<BackupFacts, 'schema' | 'pushes' | 'accounts'> {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-counts-'))
  writeFileSync(join(folder, 'copy.db'), bytes)
  const database = new Database(join(folder, 'copy.db'))
  try {
    const count = (sql: string) =>
      Object.values(database.query<Record<string, number>, []>(sql).get() ?? {})[0] ?? 0
    return {
      schema: count('PRAGMA user_version'),
      pushes: count('SELECT count(*) FROM pushes'),
      accounts: count('SELECT count(*) FROM accounts'),
    }
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}
