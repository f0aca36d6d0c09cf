// What the doctor sees of a database on PostgreSQL: whether it can be reached, trusted and served, with this key and at this time.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import { judgeClock } from '../../operating/checks.ts'
import { type Checks, fine, problem, type Verdict, warning } from '../../operating/health.ts'
import type { DatabaseSettings } from '../../settings/database.ts'
import { requireKeys } from '../../store/every-engine/instance.ts'
import { lookAtKeyring } from '../../store/folder/key-file.ts'
import { createNodeNoteFile } from '../../store/folder/notes.ts'
import type { CommandDatabase } from '../../store/opening/opened-store.ts'
import { openServerDatabase } from '../../store/opening/server-database.ts'
import { type DatabaseInspection, inspectPostgres } from '../../store/postgres/inspection.ts'
import { connectTo, warnAboutTls } from '../../store/postgres/reaching/address.ts'
import { explainUnreachable } from '../../store/postgres/reaching/unreachable.ts'
import { findSchemaProblem } from '../../store/postgres/schema/migrate.ts'
import type { Place } from './place.ts'
import { lookAtKey, type Rows } from './rows.ts'

const MIB = 1024 * 1024

export async function lookAtServerRows({ address, keyFile }: DatabaseSettings, place: Place): Promise<Rows> {
  const { folder, now } = place
  let opened: CommandDatabase | null = null
  const readKeys = async () => {
    const keyring = lookAtKeyring(folder, keyFile)
    if (keyring !== null) await opened?.steps.read(() => requireKeys({ keyring, keyFile }))
    return keyring
  }
  const close = { [Symbol.asyncDispose]: async () => opened?.close() }
  try {
    const note = await createNodeNoteFile(folder.path).read()
    const inspection = await inspectPostgres(connectTo(address), note)
    const here = now()
    const { instance } = inspection
    if (instance !== null && findSchemaProblem(instance) === null)
      opened = await openServerDatabase({ address })
    const checks: Checks = {
      database: () => judgeServer(inspection, address),
      tables: () => judgeTables(inspection, note !== null),
      nodes: () => judgeNodes(inspection),
      key: () => lookAtKey(keyFile, readKeys),
      clock: () => judgeServerClock(inspection, here),
    }
    return { checks, read: opened?.steps.read ?? null, readKeys, ...close }
  } catch (cause) {
    const why = explainUnreachable(address, cause)?.error ?? cause
    const database = () => {
      if (why instanceof DomainError) return problem(why.message, SEE)
      throw why
    }
    return { checks: { database }, read: null, readKeys, ...close }
  }
}

const SEE = 'See docs/beyond-one-machine.md.'

function judgeServer(inspection: DatabaseInspection, address: DatabaseAddress): Verdict {
  const { version, problems, isEncrypted, bytes, logsValues, instance } = inspection
  const { socket, tls } = address
  const clear = isEncrypted ? `over TLS (${tls.mode})` : `not encrypted (${tls.mode})`
  const way = socket === null ? clear : 'over its socket'
  const size = Math.ceil(bytes / MIB)
  const said = `${presentDatabaseAddress(address)}, PostgreSQL ${version}, ${way}, ${size} MiB.`
  const refusal = problems[0] ?? instance?.refusal ?? null
  if (refusal !== null) return problem(refusal, SEE)
  if (logsValues) return warning(`${said} ${LOGS_VALUES}`, LOGS_REMEDY)
  const weakness = warnAboutTls(address)
  return weakness === null ? fine(said) : warning(`${said} ${weakness}`, SEE)
}

const LOGS_VALUES =
  'PostgreSQL logs statements with their values: sealed payloads and keys, e-mail addresses and IP addresses stay in its log ' +
  'after pushes have ended.'
const LOGS_REMEDY =
  'As a superuser: ALTER DATABASE … SET log_parameter_max_length = 0. Statements are then logged without values.'

function judgeTables({ instance }: DatabaseInspection, wasServed: boolean): Verdict {
  if (instance !== null) {
    const refusal = findSchemaProblem(instance)
    return refusal === null ? fine(`Version ${instance.version}.`) : problem(refusal)
  }
  if (!wasServed)
    return warning('The database is empty.', 'Start "oncebox serve" once, which makes the tables.')
  const remedy = 'Restore it, or name the right one with --database-url.'
  return problem('The database is empty, though this data folder served one.', remedy)
}

function judgeNodes({ instance }: DatabaseInspection): Verdict {
  const alive = instance?.nodes.filter(({ isAlive }) => isAlive) ?? []
  if (alive.length === 0) return fine('No node serves the database now.')
  const names = alive.map(({ name, version }) => `${name} (${version})`).join(', ')
  return fine(`${alive.length === 1 ? 'One serves' : `${alive.length} serve`} the database: ${names}.`)
}

function judgeServerClock({ time, instance }: DatabaseInspection, here: number): Verdict {
  const doubted = instance?.clockDoubted ?? null
  const doubt = doubted === null ? null : { said: doubted, expected: instance?.clockMark ?? time }
  return judgeClock({ doubt, here, was: time, isOnServer: true })
}
