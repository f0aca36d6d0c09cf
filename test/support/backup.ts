// Makes backups as `oncebox backup` does, and reads them.

import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MemberName, readBackup } from '../../src/backup/archive.ts'
import { type BackupReport, type BackupWish, backUp } from '../../src/backup/backup.ts'
import { type BackupCredentials, openBackup } from '../../src/backup/sealing.ts'
import { asyncPieces } from '../../src/backup/streams.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { START } from './instance.ts'
import type { Place } from './needles.ts'

export function wishOf(dataDir: string, changes: Partial<BackupWish> = {}): BackupWish {
  return {
    dataDir,
    file: null,
    seal: null,
    keyFile: null,
    tlsAuthorityKey: null,
    minFreeSpace: 0,
    settings: [],
    ...changes,
  }
}

/** Makes a backup, in memory unless a file is named. */
export async function makeBackup(
  dataDir: string,
  changes: Partial<BackupWish> = {},
  onStep: (step: string) => void = () => undefined,
): Promise<{ report: BackupReport; bytes: Buffer }> {
  const pieces: Uint8Array[] = []
  listenAtSteps(onStep)
  const report = await backUp(wishOf(dataDir, changes), {
    now: () => START,
    writeOutput: async (piece) => void pieces.push(piece),
    onCopying: () => undefined,
    onProgress: () => undefined,
  }).finally(() => listenAtSteps(null))
  return { report, bytes: report.file === null ? Buffer.concat(pieces) : readFileSync(report.file) }
}

/** `opener`: a passphrase, or secret keys. */
export async function readMembers(
  bytes: Uint8Array,
  { passphrase = null, identities = [] }: { passphrase?: string | null; identities?: string[] } = {},
) {
  const file = 'the backup'
  const credentials: BackupCredentials = {
    identities: identities.map((text) => ({ path: 'key.txt', text })),
    passphrase,
    askPassphrase: () => Promise.reject(new Error('the backup is sealed')),
  }
  const { seal, tar } = await openBackup(asyncPieces(bytes), { file, credentials })
  const members: Partial<Record<MemberName, Buffer>> = {}
  const manifest = await readBackup(tar, {
    file,
    onPiece: (name, piece) => {
      members[name] = Buffer.concat([members[name] ?? Buffer.alloc(0), piece])
    },
  })
  return { seal, manifest, members }
}

/** The database in a backup, as a new file. */
export async function openBackedUp(bytes: Uint8Array, path: string): Promise<Database> {
  const { members } = await readMembers(bytes)
  writeFileSync(path, members['oncebox.db'] ?? '')
  return new Database(path, { readonly: true })
}

/** The pushes in a backup that is not encrypted. */
export async function countPushes(file: string): Promise<number> {
  const path = `${file}.db`
  const database = await openBackedUp(readFileSync(file), path)
  try {
    return database.query<{ n: number }, []>('SELECT count(*) AS n FROM pushes').get()?.n ?? 0
  } finally {
    database.close()
    rmSync(path)
  }
}

/** The copies that this process holds open without a name. */
export function readHiddenCopies(): Place[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    const path = join('/proc/self/fd', name)
    try {
      const where = readlinkSync(path)
      return /backup-copy-.*\(deleted\)$/.test(where) ? [{ where, bytes: readFileSync(path) }] : []
    } catch {
      return []
    }
  })
}

/** Makes an unfinished backup look as if it had not been written to for an hour. */
export function makeOld(part: string): void {
  const then = Date.now() / 1000 - 3600
  utimesSync(part, then, then)
}
