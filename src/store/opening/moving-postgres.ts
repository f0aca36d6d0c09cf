// A PostgreSQL database as the end of a move.

import { presentDatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import {
  type OpenTarget,
  type SourceEnd,
  sourceInUse,
  type TargetEnd,
  type TargetLook,
} from '../moving/ends.ts'
import type { MovedAway, MoveState, MovingBucketFolder } from '../moving-face.ts'
import { onOwnConnection } from '../postgres/engine/own-connection.ts'
import { clearRows } from '../postgres/moving/clear-rows.ts'
import {
  forgetState,
  type Query,
  readLeft,
  readState,
  writeLeft,
  writeState,
} from '../postgres/moving/move-row.ts'
import { createMovingReader } from '../postgres/moving/read-rows.ts'
import {
  closing,
  lockMoves,
  openSession,
  type PostgresOptions,
  readHalted,
  readMark,
  requireIdle,
} from '../postgres/moving/session.ts'
import { createMovingWriter, writeBucketFolder } from '../postgres/moving/write-rows.ts'
import { hasTables, migrate, requireCurrentSchema } from '../postgres/schema/migrate.ts'

/** One snapshot for everything that is read. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'

/** Null unless everything was moved away from the database. */
export function findLeftDatabase(options: PostgresOptions): Promise<MovedAway | null> {
  return readNote(options, readLeft)
}

/** Null for a database without our tables. */
async function readNote<T>(
  options: PostgresOptions,
  read: (query: Query) => Promise<T | null>,
): Promise<T | null> {
  const opened = await openSession(options)
  try {
    return (await hasTables(opened.connect)) ? await read(opened.query) : null
  } finally {
    opened.close()
  }
}

/** Throws `conflict` while a node serves the database, and when nothing may be read of it. */
export async function openPostgresSource(options: PostgresOptions): Promise<SourceEnd> {
  const name = presentDatabaseAddress(options.address)
  const opened = await openSession(options)
  const { query } = opened
  return closing(opened, async () => {
    await onOwnConnection(opened.connect, requireCurrentSchema)
    await requireIdle(query, name)
    await query(SNAPSHOT)
    const mark = await readMark(query)
    const halted = await readHalted(query)
    if (halted !== null) throw new DomainError('conflict', halted)

    /** Nodes change the row of the instance before they serve. */
    async function change(work: (within: Query) => Promise<void>): Promise<void> {
      await query('COMMIT')
      await opened.transact(async (within) => {
        await within('SELECT FROM instance FOR UPDATE')
        await requireIdle(within, name)
        if ((await readMark(within)) !== mark) throw new DomainError('conflict', sourceInUse(name))
        await work(within)
      })
      await query(SNAPSHOT)
    }

    return {
      name,
      reader: createMovingReader(query),
      mark,
      leave: (away) => change((within) => writeLeft(within, away)),
      settleFiles: (folder) => change((within) => writeBucketFolder(within, folder)),
      close: async () => opened.close(),
    }
  })
}

/** Null when nothing is being moved into the database. */
export function readPostgresState(options: PostgresOptions): Promise<MoveState | null> {
  return readNote(options, readState)
}

/** Changes nothing. Throws `conflict` for a database that is in use. */
export async function lookAtPostgres(options: PostgresOptions): Promise<TargetLook> {
  const name = presentDatabaseAddress(options.address)
  const opened = await openSession(options)
  try {
    if (!(await hasTables(opened.connect))) return { name, state: null }
    await onOwnConnection(opened.connect, requireCurrentSchema)
    const state = await readState(opened.query)
    if (state !== null) return { name, state }
    await requireIdle(opened.query, name)
    await requireVacant(opened.query, name)
    return { name, state: null }
  } finally {
    opened.close()
  }
}

/** A database that a node was started with once has keys and a link for the first administrator, which nobody needs. */
async function requireVacant(query: Query, name: string): Promise<void> {
  const left = await readLeft(query)
  const { accounts, pushes } = await createMovingReader(query).count()
  if (accounts === 0 && pushes === 0) return
  const why =
    left === null
      ? `it holds ${accounts} accounts and ${pushes} pushes`
      : `everything in it was moved to ${left.to}`
  throw new DomainError(
    'conflict',
    `Cannot move into ${name}: ${why}. A move never replaces anything: name an empty database with --to.`,
  )
}

/** Makes the tables when they are missing. */
export async function openPostgresTarget(
  options: PostgresOptions,
  { state, anew }: OpenTarget,
): Promise<TargetEnd> {
  const name = presentDatabaseAddress(options.address)
  const opened = await openSession(options)
  const { query, transact, connect } = opened
  return closing(opened, async () => {
    await lockMoves(query, name)
    await migrate({ connect, onWarning: options.onWarning })
    const before = await readState(query)
    await transact(async (within) => {
      await within('SELECT FROM instance FOR UPDATE')
      await requireIdle(within, name)
      if (before === null || anew) await clearRows(within)
      await writeState(within, state)
    })
    return {
      name,
      reader: createMovingReader(query),
      writer: createMovingWriter({ query, transact }),
      writeState: (next) => transact((within) => writeState(within, next)),
      confirm: () => transact(forgetState),
      close: async () => opened.close(),
    }
  })
}

/** Whether a database has data that a node can be started with. */
export async function isFilledDatabase(options: PostgresOptions): Promise<boolean> {
  const opened = await openSession(options)
  try {
    if (!(await hasTables(opened.connect)) || (await readLeft(opened.query)) !== null) return false
    const { items } = await createMovingReader(opened.query).readRows('instanceKeys', null)
    return items.length > 0
  } finally {
    opened.close()
  }
}

/** The folder of files in a bucket that a database had which was moved away; null for none. */
export async function readFormerFolder(options: PostgresOptions): Promise<MovingBucketFolder | null> {
  const opened = await openSession(options)
  try {
    return await createMovingReader(opened.query).readBucketFolder()
  } finally {
    opened.close()
  }
}

/** Removes every row of a database that was moved away. Its mark stays. */
export async function destroyPostgres(options: PostgresOptions): Promise<void> {
  const opened = await openSession(options)
  try {
    await opened.transact(clearRows)
  } finally {
    opened.close()
  }
}
