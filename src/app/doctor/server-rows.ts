// Checks a database on PostgreSQL: whether a node could serve it, with this key and at this time. Messages
// are those of a start.

import { presentDatabaseAddress } from '../../domain/database-address.ts'
import { judgeClock } from '../../operating/checks.ts'
import { fine, problem, type Verdict, warning } from '../../operating/health.ts'
import type { DatabaseSettings } from '../../settings/database.ts'
import { lookAtKeyring } from '../../store/folder/key-file.ts'
import { createNodeNoteFile } from '../../store/folder/notes.ts'
import { readClockMark, requireKeys } from '../../store/instance.ts'
import { holdsTables, openServerDatabase } from '../../store/opening/server-database.ts'
import { warnAboutTls } from '../../store/postgres/reaching/address.ts'
import type { DoctorTarget } from './place.ts'
import { lookAtKey, type Rows } from './rows.ts'

type ServerDatabase = Awaited<ReturnType<typeof openServerDatabase>>

export async function lookAtServerRows(
  { address, keyFile }: DatabaseSettings,
  place: DoctorTarget,
): Promise<Rows> {
  const { folder, now } = place
  let opened: ServerDatabase | null = null
  let lookAtDatabase = (): Verdict | Promise<Verdict> => warning('The database is empty.', START)
  try {
    if (await holdsTables(address)) {
      opened = await openServerDatabase({ address })
      const refusal = await opened.findRefusal(await createNodeNoteFile(folder.path).read())
      const weakness = warnAboutTls(address)
      const said = `${presentDatabaseAddress(address)} answers.`
      const judged = weakness === null ? fine(said) : warning(`${said} ${weakness}`)
      lookAtDatabase = () => (refusal === null ? judged : problem(refusal, SEE))
    }
  } catch (cause) {
    lookAtDatabase = () => Promise.reject(cause)
  }
  const readKeys = async () => {
    const keyring = lookAtKeyring(folder, keyFile)
    if (keyring !== null) await opened?.steps.read(() => requireKeys({ keyring, keyFile }))
    return keyring
  }
  return {
    checks: {
      database: lookAtDatabase,
      key: () => lookAtKey(keyFile, readKeys),
      clock: async () => opened && judgeServerClock(opened, now()),
    },
    read: opened?.steps.read ?? null,
    readKeys,
    [Symbol.asyncDispose]: async () => opened?.close(),
  }
}

const START = 'Start "oncebox serve" once, which makes the tables.'
const SEE = 'See docs/beyond-one-machine.md.'

async function judgeServerClock({ steps, now }: ServerDatabase, here: number): Promise<Verdict> {
  const { mark, doubted } = await steps.read(readClockMark)
  const doubt = doubted === null ? null : { said: doubted, expected: mark }
  return judgeClock({ doubt, here, was: now(), isOnServer: true })
}
