// Bugs of earlier versions of Bun's client for PostgreSQL. Each would give one caller the rows of another, or
// leave connections that never work again. These tests notice if a later version brings one back.

import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { findPostgres } from '../../../../scripts/programs.ts'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import { databaseClientOptions } from '../../../../src/store/postgres/client-options.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()

postgres.describe('the client of Bun', () => {
  let url = ''
  let sql: SQL
  beforeAll(async () => {
    url = (await postgres.newEmptyDatabase()).address
  }, 300_000)
  beforeEach(() => {
    sql = open(1)
  })
  afterEach(() => sql.close({ timeout: 0 }))

  function open(max: number, login: { password?: null } = {}): SQL {
    const parsed = parseDatabaseAddress(`${url}?sslmode=disable`)
    const address = parsed && { ...parsed, ...login }
    if (address === null || 'problem' in address) throw new Error('no address')
    const options = databaseClientOptions(address, () => '')
    expect(options).toMatchObject({ idleTimeout: 0, maxLifetime: 0 })
    return new SQL({ ...options, max })
  }

  async function pidOf(connection: SQL): Promise<number> {
    const [row] = await connection`SELECT pg_backend_pid() AS pid`
    return row.pid
  }

  /** Ends connections at the server before the event loop of this process runs again. */
  function endAtOnce(pids: readonly number[]): void {
    const server = new URL(url)
    const { exitCode, stderr } = Bun.spawnSync(
      [`${findPostgres()}/psql`, '-XAtqc', END_AT_ONCE.replaceAll('$1', String(pids))],
      {
        env: {
          PATH: process.env.PATH ?? '',
          PGHOST: server.hostname,
          PGPORT: server.port,
          PGUSER: decodeURIComponent(server.username),
          PGPASSWORD: decodeURIComponent(server.password),
          PGDATABASE: server.pathname.slice(1),
          PGSSLMODE: 'disable',
        },
      },
    )
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
  }

  test('takes no password from the variables of other programs if the address has none', async () => {
    process.env.PGPASSWORD = decodeURIComponent(new URL(url).password)
    const stranger = open(1, { password: null })
    try {
      expect(await stranger`SELECT 1`.catch((cause) => cause)).toMatchObject({ errno: '28P01' })
    } finally {
      delete process.env.PGPASSWORD
      await stranger.close({ timeout: 0 })
    }
  })

  test('gives each of several statements that are sent together its own rows (oven-sh/bun#33627)', async () => {
    await sql`SELECT ${'warm'} AS v`
    const sent = [sql`SELECT ${'A'} AS v`, sql`SELECT ${'B'} AS v, ${1}::int AS w`, sql`SELECT ${'C'} AS v`]
    expect((await Promise.all(sent)).map(([row]) => row)).toEqual([{ v: 'A' }, { v: 'B', w: 1 }, { v: 'C' }])
  })

  test('gives simple statements between prepared ones their own rows (oven-sh/bun#32772)', async () => {
    const sent = [
      sql.unsafe("SELECT 'A' AS v"),
      sql.unsafe('SELECT $1::text AS v', ['B']),
      sql.unsafe("SELECT 'C' AS v").simple(),
      sql.unsafe('SELECT $1::text AS w', ['D']),
      sql`BEGIN`,
      sql`COMMIT`,
      sql.unsafe("SELECT 'E' AS v"),
    ]
    const rows = (await Promise.all(sent)).map(([row]) => row)
    expect(rows).toEqual([{ v: 'A' }, { v: 'B' }, { v: 'C' }, { w: 'D' }, undefined, undefined, { v: 'E' }])
  })

  test('never confuses two prepared statements that begin alike (oven-sh/bun#30494)', async () => {
    const select = (n: number) => {
      const numbers = Array.from({ length: n }, (_, i) => 100 * n + i)
      const list = numbers.map((_, i) => `$${i + 1}::int`).join(', ')
      return sql.unsafe(`SELECT ARRAY[${list}] AS numbers_that_have_long_names`, numbers)
    }
    for (let round = 0; round < 20; round += 1) {
      const counts = Array.from({ length: 30 }, (_, i) => 1 + ((i * 7 + round) % 40))
      const found = await Promise.all(counts.map(select))
      expect(found.map(([row]) => Array.from(row.numbers_that_have_long_names)[0])).toEqual(
        counts.map((n) => 100 * n),
      )
    }
  })

  test('opens new connections after the server ended all of them at once (oven-sh/bun#30947)', async () => {
    const pool = open(4)
    const all = await Promise.all([1, 2, 3, 4].map(() => pool.reserve()))
    const pids = await Promise.all(all.map(pidOf))
    await Promise.all(all.map((connection) => connection.release()))
    endAtOnce(pids)
    const answers: unknown[] = []
    for (let tries = 0; tries < 20 && answers.length < 4; tries += 1)
      await pool`SELECT 1 AS one`.then(
        ([row]) => answers.push(row),
        () => undefined,
      )
    expect(answers).toEqual([{ one: 1 }, { one: 1 }, { one: 1 }, { one: 1 }])
    await pool.close({ timeout: 0 })
  }, 300_000)

  test('rejects queries of a reserved connection that ended, and never moves them to another (oven-sh/bun#30947)', async () => {
    const reserved = await sql.reserve()
    await reserved`BEGIN`
    endAtOnce([await pidOf(reserved)])
    for (let tries = 0; tries < 3; tries += 1)
      await expect((async () => await reserved`SELECT 1`)()).rejects.toThrow()
  }, 300_000)

  test('keeps other statements out of a transaction that waited for its connection (oven-sh/bun#32004)', async () => {
    const slow = async () => await sql`SELECT pg_sleep(0.1), ${1}::int AS n`
    const other = async () => await sql`SELECT ${2}::int AS n, pg_current_xact_id_if_assigned() AS inside`
    await slow()
    await other()
    const before = slow()
    let beside: ReturnType<typeof other> | undefined
    const within = sql.begin(async (transaction) => {
      await transaction`SELECT pg_current_xact_id()`
      beside = other()
      const [row] = await transaction.unsafe("SELECT 'mine' AS n, pg_sleep(0.1)")
      return row.n
    })
    await before
    const after = other()
    expect(await within).toBe('mine')
    for (const rows of [await beside, await after]) expect(rows?.[0]).toEqual({ n: 2, inside: null })
    expect((await other())[0]?.n).toBe(2)
  }, 300_000)

  test('lets a statement run without a timeout (oven-sh/bun#30646)', async () => {
    const [row] = await sql`SELECT pg_sleep(2.5)::text AS slept`
    expect(row).toEqual({ slept: '' })
  }, 300_000)

  test('continues after an error of a statement, also among others in the same pipeline (oven-sh/bun#22395)', async () => {
    await sql`CREATE TEMP TABLE single (n int PRIMARY KEY)`
    const sent = [1, 1, 2].map(async (n) => await sql`INSERT INTO single VALUES (${n})`)
    expect((await Promise.allSettled(sent)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    const [row] = await sql`SELECT count(*)::int AS rows FROM single`
    expect(row).toEqual({ rows: 2 })
  })

  test('frees a connection whose reservation was abandoned, when it is closed (oven-sh/bun#39451)', async () => {
    const pool = open(1)
    const first = await pool.reserve()
    const pid = await pidOf(first)
    const abandoned = pool.reserve().catch((cause) => cause)
    await pool.close({ timeout: 0 })
    expect(await abandoned).toBeInstanceOf(Error)
    const isOpen = async () => (await sql`SELECT FROM pg_stat_activity WHERE pid = ${pid}`).length > 0
    await waitUntil(async () => !(await isOpen()))
  }, 300_000)

  test('passes arrays with any values', async () => {
    const texts = ['a"b\\c,{}', 'NULL', '', null]
    const bytes = [Buffer.from([0, 1, 255]), Buffer.alloc(0), null, Buffer.alloc(70_000, 7)]
    const rows = await sql.unsafe('SELECT * FROM unnest($1::text[], $2::bytea[]) AS given(text, bytes)', [
      texts,
      bytes,
    ])
    expect(rows.map(({ text }: { text: unknown }) => text)).toEqual(texts)
    expect(rows.map((row: { bytes: unknown }) => row.bytes)).toEqual(bytes)
  })
})

/** Waits until the backends have ended, as version 14 does by itself. */
const END_AT_ONCE = `DO $$ BEGIN
  PERFORM pg_terminate_backend(pid) FROM unnest(ARRAY[$1]) AS pid;
  FOR n IN 1..6000 LOOP
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ANY(ARRAY[$1]));
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$`
