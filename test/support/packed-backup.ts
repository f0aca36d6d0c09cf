// Backups and their databases, built by hand from the folders of stopped servers.

import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManifest, type MemberName, memberOfBytes, writeBackup } from '../../src/backup/archive.ts'
import { type Seal, sealStream } from '../../src/backup/sealing.ts'
import { visitFrom } from '../../src/domain/audit.ts'
import { openRestoredStore } from '../../src/store/opening/restored-store.ts'
import type { OwnedPush } from '../../src/store/pushes/rekeying.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'

/** The tables with rows that give access to something. */
export const OPENING_TABLES = [
  ...['push_secrets', 'push_keys', 'push_files', 'sessions', 'account_links', 'home', 'bucket_folder'],
  ...['idempotency_keys', 'idempotency_answers', 'live_shares', 'address_shares'],
]

/** Copies the database without the rows that give access to something. */
export function copyKeyless(dataDir: string, to: string): void {
  copyFileSync(join(dataDir, 'oncebox.db'), to)
  edit(to, (database) => {
    database.run('PRAGMA journal_mode = DELETE')
    database.run('PRAGMA secure_delete = ON')
    for (const table of OPENING_TABLES) database.run(`DELETE FROM ${table}`)
    database.run('VACUUM')
  })
}

/** Changes a database that no process has open, as a person with database tools could. */
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
         expire_after_views, retrieval_step, shows_sender, passphrase_required, expired_on, deleted, lost, files)
       VALUES (?, randomblob(16), 1, 'text', ?, 100, ${NO_END}, 1, 5, 0, 0, 0, ?, 0, 0, 0)`,
      [id, owner, expiredOn],
    )
    database.run("INSERT INTO push_state VALUES (?, 100, 0, 0, 0, 100, 0, 0, ?, 1, 0, 0, 0, 0, 0, '')", [
      id,
      id,
    ])
    database.run("INSERT INTO audit_entries VALUES (?, ?, NULL, 'creation', 100, '192.0.2.1', '', '')", [
      id,
      id,
    ])
    if (owner !== null)
      database.run(
        `INSERT INTO push_labels (push_id, url_token, name, seen_views, event_id)
         VALUES (?, x'00', x'01', 0, 'xxxxxxxxxxxxxxxxxxxx')`,
        [id],
      )
  }
  database.close()
}

function readLinks(path: string): { id: number; urlToken: Uint8Array<ArrayBuffer> }[] {
  const database = new Database(path, { readonly: true })
  try {
    return database
      .query<{ id: number; urlToken: Uint8Array<ArrayBuffer> }, []>(
        'SELECT push_id AS id, url_token AS "urlToken" FROM push_labels',
      )
      .all()
  } finally {
    database.close()
  }
}

/** Ends every live push of a stopped server's folder as a restore does, without a backup. */
export async function losePushes(dataDir: string, now: number): Promise<number> {
  const path = join(dataDir, 'oncebox.db')
  const copy = join(dataDir, 'copy.db')
  copyKeyless(dataDir, copy)
  rmSync(path)
  const store = openRestoredStore({ from: copy, path, name: 'the backup' })
  const visit = visitFrom({ ip: '', userAgent: 'oncebox/3.0.0 (restore)', referrer: '' })
  // Keeps the links, by which the test finds its pushes.
  const links = new Map(readLinks(copy).map(({ id, urlToken }) => [id, urlToken]))
  const relink = (push: OwnedPush) => ({ ...push, urlToken: links.get(push.id) ?? push.urlToken })
  const lost = await store.endLive({ now, visit, relink, onProgress: () => undefined }).finally(store.close)
  rmSync(copy)
  // Remove it, because a restored folder was not served anywhere yet.
  rmSync(join(dataDir, 'serve.home'), { force: true })
  return lost
}

export type BackupParts = {
  /** Members that replace those of the folder. Null omits one. */
  members?: Partial<Record<MemberName, Uint8Array | string | null>>
  version?: string
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

/** `all`: the members of the backup, which may hold a database that is in no folder. */
export async function packBackup(
  all: Record<MemberName, Uint8Array | string | null>,
  { version = '3.0.0', seal }: Pick<BackupParts, 'version' | 'seal'> = {},
): Promise<Buffer> {
  const names: MemberName[] = ['settings.json', 'instance.key', 'tls-authority.pem', 'oncebox.db']
  const given = names.flatMap((name) => {
    const content = all[name]
    return content === null ? [] : [memberOfBytes(name, Buffer.from(content as string))]
  })
  const sources = await Promise.all(given)
  const plain = writeBackup(createManifest({ version, madeAt: MADE_AT }, sources), sources)
  const stream = seal === undefined ? plain : await sealStream(plain, seal)
  return Buffer.from(await new Response(stream).arrayBuffer())
}
