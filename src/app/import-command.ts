// Imports, surveys or verifies the data of another server, from the command line. No server may be running.

import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { ARGON2_COST } from '../crypto/passphrase.ts'
import { parseDatabaseAddress, pathOfSqlite } from '../domain/database-address.ts'
import { DomainError } from '../domain/errors.ts'
import { importSource, surveySource } from '../importing/import-source.ts'
import type { IncomingSource } from '../importing/incoming.ts'
import type { ForeignDatabase } from '../importing/source/foreign-database.ts'
import { openPasswordPusher } from '../importing/source/password-pusher.ts'
import { PUBLISHED_KEY, parseMasterKeys } from '../importing/source/sealed-columns.ts'
import { openServerDatabase } from '../importing/source/server-database.ts'
import { openSqliteDatabase } from '../importing/source/sqlite-database.ts'
import { verifySource } from '../importing/verify.ts'
import { createRelieve } from '../pushes/relief.ts'
import { createUploads } from '../pushes/uploads.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import { type ImportPlace, type ImportPlacePorts, openLook, openPlace, requireData } from './import-place.ts'

export type ImportWish = ImportPlace & {
  /** The path of an SQLite file, or the address of a server. */
  database: string
  /** The password of the database user; overrides the one in the address. */
  sourcePassword: string | null
  storage: string | null
  /** The file of the master key; null for the key that Password Pusher publishes. */
  masterKeyFile: string | null
  previousKeysFile: string | null
  mode: 'import' | 'dry-run' | 'verify'
}

type ImportPorts = ImportPlacePorts & {
  readFile: (path: string) => string
  /** Called for every row; throttle before printing. */
  onProgress: (step: string, done: number, total: number) => void
}

export type Imported = Awaited<ReturnType<typeof importCommand>>

const COLLECT = () => Bun.gc(true)

/** Throws `conflict`, before it imports anything, if nothing can be imported. */
export async function importCommand(wish: ImportWish, ports: ImportPorts) {
  const masterKeys = readKeys(wish, ports.readFile)
  const database = await openDatabase(wish, ports)
  await using closing = new AsyncDisposableStack()
  const source = await openPasswordPusher({ ...wish, database, masterKeys, relieve: createRelieve(COLLECT) })
  closing.defer(source.close)
  for (const warning of [...source.warnings, ...warningsOf(wish)]) ports.say(warning)
  requireFittingKey(source, database, { wish, keys: masterKeys.length })
  const done = await run(source, wish, ports)
  return { source: { version: source.version, isDefaultKey: source.hasDefaultKey() }, ...done }
}

function warningsOf({ storage }: ImportWish): string[] {
  if (storage === null || statSync(storage, { throwIfNoEntry: false })?.isDirectory()) return []
  return [`The folder ${storage} does not exist, so pushes with files cannot be imported.`]
}

async function openDatabase(wish: ImportWish, { readFile }: ImportPorts): Promise<ForeignDatabase> {
  const address = parseDatabaseAddress(wish.database)
  if (address === null) return openSqliteDatabase(pathOfSqlite(wish.database))
  if ('problem' in address) throw new DomainError('conflict', `--database: ${address.problem}`)
  return openServerDatabase({ ...address, password: wish.sourcePassword ?? address.password }, readFile)
}

function readKeys(
  { masterKeyFile, previousKeysFile }: ImportWish,
  readFile: ImportPorts['readFile'],
): string[] {
  const read = (path: string | null) => (path === null ? [] : parseMasterKeys(readFile(path), path))
  const present = masterKeyFile === null ? [PUBLISHED_KEY] : read(masterKeyFile)
  return [...present, ...read(previousKeysFile)]
}

function requireFittingKey(
  source: IncomingSource,
  database: ForeignDatabase,
  { wish, keys }: { wish: ImportWish; keys: number },
): void {
  if (source.opens !== false) return
  const key =
    wish.masterKeyFile === null
      ? 'the key that Password Pusher publishes (no --master-key-file was named)'
      : `the master key in ${wish.masterKeyFile}`
  const others = keys > 1 ? `, nor any of ${keys - 1} previous ones,` : ''
  throw new DomainError(
    'conflict',
    `Nothing was imported: ${key}${others} opens no value of ${database.name}. ` +
      'Name the file with the PWPUSH_MASTER_KEY of the old server with --master-key-file.',
  )
}

async function run(source: IncomingSource, wish: ImportWish, ports: ImportPorts) {
  const { mode } = wish
  if (mode === 'dry-run') return { mode, report: await survey(source, wish, ports) }
  if (mode === 'verify') await requireData(wish)
  await using closing = new AsyncDisposableStack()
  const store = await openPlace(wish, ports)
  closing.defer(store.close)
  return mode === 'verify'
    ? { mode, report: await verify(source, store, ports) }
    : { mode, report: await bring(source, store, ports) }
}

function bring(source: IncomingSource, store: OpenedStore, { onProgress }: ImportPorts) {
  const { keyring, now } = store
  const limits = { files: Number.POSITIVE_INFINITY, fileBytes: Number.POSITIVE_INFINITY }
  const uploads = createUploads({ store, limits, relieve: createRelieve(COLLECT) })
  return importSource(source, {
    ...{ store, keyring, now, uploads, onProgress },
    argon2Cost: ARGON2_COST,
    lanes: availableParallelism(),
  })
}

function verify(source: IncomingSource, store: OpenedStore, ports: ImportPorts) {
  const { keyring, now } = store
  const onProgress = (done: number, total: number) => ports.onProgress('comparing', done, total)
  return verifySource(source, { store, keyring, now, onProgress })
}

/** Read-only: creates no folder or table and changes none. */
async function survey(source: IncomingSource, wish: ImportWish, ports: ImportPorts) {
  const onProgress = (done: number, total: number) => ports.onProgress('reading', done, total)
  const { here, close } = await openLook(wish)
  return surveySource(source, { now: ports.now(), here, onProgress }).finally(close)
}
