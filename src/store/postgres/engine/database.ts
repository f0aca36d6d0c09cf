// The connections to PostgreSQL, and transactions over them.
//
// A transaction writes a row with an id of its own. When the connection is lost after its COMMIT was sent, the node inserts
// the same id as void: that waits for a commit still in flight, and tells for good whether the transaction happened.

import type { SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'

/** One connection, within a transaction or for one read. */
export type Session = {
  /** Parameters are $1, $2, …; a parameter may be an array. Columns of type bigint come as strings: cast them to float8. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** For cold paths: it costs 7 to 21 µs a query more. */
  orm: BunSQLDatabase
}

/** Runs work that only reads. It may run again, on another connection. */
export type Read = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/**
 * Runs work in one transaction (READ COMMITTED), and resolves once it is durable. The work may run several times, so it has
 * no effects outside the database. Throws `overloaded` when nothing happened, or when it cannot be known.
 */
export type Transact = <T>(work: (session: Session) => Promise<T>) => Promise<T>

export type PostgresDatabase = { read: Read; transact: Transact; close(): Promise<void> }

export type DatabaseOptions = {
  /** Opens a pool of at most this many connections. */
  connect: (max: number) => SQL
  /** 16 random bytes. */
  newOperationId: () => Uint8Array
}

const CONNECTIONS = 8

export function createDatabase({ connect, newOperationId }: DatabaseOptions): PostgresDatabase {
  const pool = connect(CONNECTIONS)

  async function withConnection<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const connection = await pool.reserve()
    try {
      return await work(sessionOf(connection))
    } finally {
      connection.release()
    }
  }

  return {
    read: withConnection,
    transact: (work) =>
      withConnection(async (session) => {
        await session.query('BEGIN')
        try {
          await session.query('INSERT INTO operations (id) VALUES ($1)', [newOperationId()])
          const value = await work(session)
          await session.query('COMMIT')
          return value
        } catch (cause) {
          await session.query('ROLLBACK')
          throw cause
        }
      }),
    close: () => pool.close({ timeout: 0 }),
  }
}

function sessionOf(connection: SQL): Session {
  let orm: BunSQLDatabase | undefined
  return {
    query: (text, values = []) => connection.unsafe(text, [...values]),
    get orm() {
      orm ??= drizzle({ client: connection })
      return orm
    },
  }
}
