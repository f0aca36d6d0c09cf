// The rows that are sealed under the instance keys, for commands on these keys: read beside a server, changed only without one.

import type { Keyring } from '../../crypto/keyring.ts'
import type { DatabaseAddress } from '../../domain/database-address.ts'
import { HOUR } from '../../domain/time.ts'
import { dataFolder, requireDataFolder } from '../folder/data-folder.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { becomeOwner } from '../folder/ownership.ts'
import { createDatabase } from '../postgres/engine/database.ts'
import { drive } from '../postgres/engine/run-steps.ts'
import { onOwnConnection } from '../postgres/engine/session.ts'
import { readKeys, requireKnownKeys } from '../postgres/instance/keys.ts'
import { connectTo } from '../postgres/reaching/address.ts'
import { reachServer } from '../postgres/reaching/reach.ts'
import { requireAlone } from '../postgres/restoring/expire-all.ts'
import { requireCurrentSchema } from '../postgres/schema/migrate.ts'
import { truncateLog } from '../sqlite/engine/checkpoint.ts'
import { takeLog } from '../sqlite/engine/home.ts'
import { requireKeys, verifyKeys } from '../sqlite/engine/instance.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import type { Step } from '../steps.ts'
import { openBeside } from './sqlite-accounts.ts'

export type KeyRows = {
  read<T>(step: () => Step<T>): Promise<T>
  /** Throws `conflict` unless these are the keys that the database was written with. */
  requireKeys(keyring: Keyring): Promise<void>
  /** Runs a step in one transaction, which also remembers the keys. Throws `conflict` while a server serves the rows. */
  change<T>(step: () => Step<T>, keyring: Keyring): Promise<T>
  close(): Promise<void>
}

/** `isAlone`: no server may serve the folder meanwhile. Throws `conflict`, naming it, while one does. */
export async function openFolderKeys(dataDir: string, { isAlone }: { isAlone: boolean }): Promise<KeyRows> {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  const lock = isAlone ? await lockFolder(folder, { patience: 0, onWait: () => undefined }) : null
  try {
    if (lock !== null) takeLog(folder)
    const connection = openBeside(folder)
    const { database } = connection
    const { within } = createSteps(
      database,
      () => Promise.reject(),
      () => undefined,
    )
    return {
      read: async (step) => within(step()),
      requireKeys: async (keyring) => void requireKeys(connection, keyring),
      change: async (step, keyring) =>
        database
          .transaction(() => {
            verifyKeys(connection, keyring)
            return within(step())
          })
          .immediate(),
      close: async () => {
        // What was sealed under a former key stands in the log until then.
        truncateLog(database)
        connection.close()
        lock?.release()
      },
    }
  } catch (cause) {
    lock?.release()
    throw cause
  }
}

/** `isAlone`: throws `conflict`, naming them, while nodes serve the database. */
export async function openPostgresKeys(
  address: DatabaseAddress,
  keyFile: string,
  { isAlone }: { isAlone: boolean } = { isAlone: false },
): Promise<KeyRows> {
  const connect = connectTo(address)
  await reachServer({ address, connect, patience: 0, onWait: () => undefined })
  await onOwnConnection(connect, requireCurrentSchema)
  const { read, transact, close } = createDatabase({ connect, connections: 1 })
  if (isAlone)
    await transact(requireAlone).catch(async (cause) => {
      await close()
      throw cause
    })
  return {
    read: (step) => read((session) => drive(step(), session), { within: HOUR }),
    requireKeys: (keyring) =>
      read(async (session) => requireKnownKeys(await readKeys(session), keyring, keyFile)),
    change: (step, keyring) =>
      transact(
        async (session) => {
          await requireAlone(session)
          requireKnownKeys(await readKeys(session), keyring, keyFile)
          const { number, verifier } = keyring.sealing
          await session.query(SEALS, [number, Buffer.from(verifier)])
          return await drive(step(), session)
        },
        { within: HOUR },
      ),
    close,
  }
}

const SEALS = `INSERT INTO instance_keys (number, verifier, is_unused) VALUES ($1, $2, false)
  ON CONFLICT (number) DO UPDATE SET is_unused = false`
