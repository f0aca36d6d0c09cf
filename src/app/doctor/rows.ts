// Checks a database that the doctor opens read-only: whether a server could start with this key at this time.
// The messages are those of a failed start.

import { existsSync, statSync } from 'node:fs'
import type { Keyring } from '../../crypto/keyring.ts'
import { createClock } from '../../domain/clock.ts'
import { wholeMilliseconds } from '../../domain/time.ts'
import { judgeClock } from '../../operating/checks.ts'
import { type Checks, fine, problem, type Verdict, warning } from '../../operating/health.ts'
import { holdsData, requireUsable } from '../../store/folder/data-folder.ts'
import { isReadableByOthers, lookAtKeyring } from '../../store/folder/key-file.ts'
import { readClockMark, requireKeys } from '../../store/instance.ts'
import { type DatabaseReader, lookIntoDatabase } from '../../store/opening/folder-database.ts'
import type { DoctorTarget } from './place.ts'

/**
 * The opened database. `read` is null if it cannot be read. `readKeys` returns null if there is no key file
 * yet, and throws if the key file does not fit the database, as a start would.
 */
export type Rows = Awaited<ReturnType<typeof lookAtFolderRows>>

export async function lookAtFolderRows(place: DoctorTarget) {
  const { folder, config, now, isUsable, isDeep = false } = place
  const keyFile = config.keyFile ?? folder.key
  let look: DatabaseReader | null = null
  let lookAtDatabase: Checks[string] = () => lookAtNothing(place)
  if (isUsable && holdsData(folder))
    try {
      look = await lookIntoDatabase(folder, { ...place, isDeep })
      lookAtDatabase = () => fine(`${folder.database} can be opened.${tellLeftLog(place)}`)
    } catch (cause) {
      lookAtDatabase = () => Promise.reject(cause)
    }
  const readKeys = async () => {
    const keyring = lookAtKeyring(folder, config.keyFile)
    if (keyring !== null) await look?.read(() => requireKeys({ keyring, keyFile }))
    return keyring
  }
  const checks: Checks = {
    database: lookAtDatabase,
    key: () => lookAtKey(keyFile, readKeys),
    clock: () => lookAtClock(look, now(), config.maxClockGap),
  }
  return {
    checks: isUsable ? checks : {},
    read: look?.read ?? null,
    readKeys,
    [Symbol.asyncDispose]: async () => look?.close(),
  }
}

/** Warns that there is no data. Throws for a folder that lost its database or holds something else. */
function lookAtNothing({ folder, config }: DoctorTarget): Verdict {
  requireUsable(folder, config.keyFile)
  return warning(`There is no data in ${folder.path} yet.`, 'Start "oncebox serve" once.')
}

function tellLeftLog({ folder, isServed }: DoctorTarget): string {
  const size = statSync(`${folder.database}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return isServed || size === 0 ? '' : ' The last server was killed; the next start finishes its log.'
}

export async function lookAtKey(path: string, readKeys: () => Promise<Keyring | null>): Promise<Verdict> {
  const keyring = await readKeys()
  if (keyring === null) return fine(`There is no key file ${path} yet: the first start makes it.`)
  if (existsSync(path) && isReadableByOthers(path))
    return problem(`Other users of this machine can read the key file ${path}.`, `chmod 600 ${path}`)
  return fine(`${path} holds ${keyring.keys.length === 1 ? 'one key' : `${keyring.keys.length} keys`}.`)
}

/** Judges the clock as the next start would. */
async function lookAtClock(look: DatabaseReader | null, here: number, maxGap: number): Promise<Verdict> {
  const stored = (await look?.read(readClockMark)) ?? { mark: 0, doubted: null }
  const clock = createClock({
    ...{ stored, maxGap, accept: false },
    systemNow: () => here,
    uptime: () => wholeMilliseconds(0),
    onChange: () => undefined,
  })
  return judgeClock({ doubt: clock.doubt(), here, was: clock.now(), isOnServer: false })
}
