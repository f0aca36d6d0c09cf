// Opens the target of an import: a data folder that no server serves, or PostgreSQL.

import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { DomainError } from '../domain/errors.ts'
import type { Now, Uptime } from '../domain/time.ts'
import type { SurveyOptions } from '../importing/import-source.ts'
import { createJobs } from '../operating/jobs.ts'
import { databaseSettingsOf } from '../settings/database.ts'
import { dataFolder, holdsData, requireUsable } from '../store/folder/data-folder.ts'
import { lookAtKeyring, readKeyFile } from '../store/folder/key-file.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { type Keys, requireKeys } from '../store/instance.ts'
import { openFolderDatabase } from '../store/opening/folder-database.ts'
import type { CommandDatabase, OpenedStore } from '../store/opening/opened-store.ts'
import { createImportLook } from '../store/pushes/imports.ts'
import { openAnyStore, type StoreConfig } from './open-store.ts'

/**
 * The assumed maximum file size, which sets the part size of uploads: only the source knows the real sizes.
 */
const LARGEST_FILE = 32 * 1024 ** 3

const NOTHING_ACCEPTED = { acceptClock: false, acceptMove: false, acceptDatabase: false }

export type ImportPlace = Omit<StoreConfig, 'maxFileBytes' | keyof typeof NOTHING_ACCEPTED>

export type ImportPlacePorts = {
  now: Now
  uptime: Uptime
  say: (line: string) => void
  /** Replaces the clock of the database server in tests. */
  serverNow?: Now
}

/** Opens the target, and creates what is missing. */
export async function openPlace(
  place: ImportPlace,
  { say, ...ports }: ImportPlacePorts,
): Promise<OpenedStore> {
  // The source is open by now: it may belong to another user.
  becomeOwner(place.dataDir)
  const config = { ...place, ...NOTHING_ACCEPTED, maxFileBytes: LARGEST_FILE }
  const store = await openAnyStore(config, {
    ...{ ...ports, isServer: false },
    onWarning: say,
    onError: (cause) => say(`oncebox: ${cause instanceof Error ? cause.message : cause}`),
    onFatal: (cause) => {
      throw cause
    },
  })
  return place.databaseUrl === null ? store : withHeartbeats(store, say)
}

/**
 * Runs heartbeats during the import. Without them, other nodes would treat this node as dead after a minute,
 * and collect its uploads as abandoned.
 */
async function withHeartbeats(store: OpenedStore, say: (line: string) => void): Promise<OpenedStore> {
  const log = { error: (_: object, message: string) => say(`oncebox: ${message}`) }
  const jobs = createJobs({ jobs: store.jobs, now: store.now, log })
  await jobs.start()
  return { ...store, close: () => jobs.stop().then(store.close) }
}

/** Throws `conflict` when there is no data to compare a source with. */
export async function requireData(place: ImportPlace): Promise<void> {
  const { dataDir } = place
  const server = databaseSettingsOf(place)
  const isThere = server === null ? holdsData(dataFolder(dataDir)) : await holdsTables(server.address)
  if (isThere) return
  const where = server === null ? dataDir : presentDatabaseAddress(server.address)
  throw new DomainError('conflict', `There is no Oncebox data in ${where} to compare with.`)
}

const loadServer = () => import('../store/opening/server-database.ts')
const holdsTables = async (address: DatabaseAddress) => (await loadServer()).holdsTables(address)

type Look = { here: SurveyOptions['here']; close(): Promise<void> }
const NOTHING: Look = { here: null, close: async () => undefined }

/** Opens the existing data of the target, read-only. Throws `conflict` as the import itself would. */
export async function openLook(place: ImportPlace): Promise<Look> {
  const { dataDir, keyFile } = place
  const folder = dataFolder(dataDir)
  const server = databaseSettingsOf(place)
  if (server !== null) {
    const { address, keyFile } = server
    if (await holdsTables(address)) {
      const keys = { keyring: readKeyFile(keyFile), keyFile }
      return lookInto(await (await loadServer()).openServerDatabase({ address }), keys)
    }
    lookAtKeyring(folder, keyFile)
    return NOTHING
  }
  becomeOwner(dataDir)
  requireUsable(folder, keyFile)
  const keyring = lookAtKeyring(folder, keyFile)
  if (keyring === null || !holdsData(folder)) return NOTHING
  return lookInto(await openFolderDatabase({ dataDir }), { keyring, keyFile: keyFile ?? folder.key })
}

async function lookInto({ steps, close }: CommandDatabase, keys: Keys): Promise<Look> {
  await using closing = new AsyncDisposableStack()
  closing.defer(close)
  await steps.read(() => requireKeys(keys))
  const opened = closing.move()
  return { here: { ...createImportLook(steps), keyring: keys.keyring }, close: () => opened.disposeAsync() }
}
