// What a work may do on its connection. Each use says that something is sent, so that the wait for an answer begins anew.

import type { ReservedSQL, SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import type { Session } from './database.ts'

export type ControlledSession = Session & {
  /** Does not wait for what was sent before. Resolves to the tag of the server's answer. */
  control(command: ControlCommand): Promise<string>
}

export type ControlCommand = 'BEGIN' | 'COMMIT' | 'ROLLBACK'

/** `touch` is called whenever something is sent. */
export function sessionOf(reserved: ReservedSQL, touch: () => void): ControlledSession {
  let orm: BunSQLDatabase | undefined
  return {
    query: (text, values = []) => {
      touch()
      return reserved.unsafe(text, [...values])
    },
    get orm() {
      orm ??= drizzle({ client: touching(reserved, touch) })
      return orm
    },
    control: async (command) => {
      touch()
      const { command: tag } = await CONTROLS[command](reserved)
      return tag
    },
  }
}

/** Prepared statements, which the client sends without waiting; those of `unsafe` without parameters wait. */
const CONTROLS: Record<ControlCommand, (reserved: ReservedSQL) => SQL.Query<{ command: string }>> = {
  BEGIN: (reserved) => reserved`BEGIN`,
  COMMIT: (reserved) => reserved`COMMIT`,
  ROLLBACK: (reserved) => reserved`ROLLBACK`,
}

function touching(reserved: ReservedSQL, touch: () => void): ReservedSQL {
  return new Proxy(reserved, {
    get: (target, name, receiver) => {
      touch()
      return Reflect.get(target, name, receiver)
    },
  })
}
