// Transactions over PostgreSQL: an acknowledged one has happened once, and a commit whose answer was lost is
// in doubt, however the connection fails.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { PostgresSession } from '../../../../src/store/postgres/engine/session.ts'
import { openProxied, type ProxiedDatabase } from '../../../support/proxied-database.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('a transaction', () => {
  let it: ProxiedDatabase
  let runs = 0

  beforeEach(async () => {
    runs = 0
    it = await openProxied(postgres)
    // From here on the statements are prepared.
    await it.database.transact(addNote(1))
  })
  afterEach(() => it.close())

  const addNote = (n: number) => async (session: PostgresSession) => {
    runs += 1
    await session.query('INSERT INTO notes VALUES ($1)', [n])
    return `note ${n}`
  }

  /** Returns SQL that fails the first `times` times. */
  async function failTimes(times: number, state: string): Promise<string> {
    await it.direct.transact(async (session) => {
      await session.query('DROP SEQUENCE IF EXISTS tries')
      await session.query('CREATE SEQUENCE tries')
      await session.query(`CREATE OR REPLACE FUNCTION fail() RETURNS void AS $$ BEGIN
        IF nextval('tries') <= ${times} THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${state}'; END IF;
      END $$ LANGUAGE plpgsql`)
    })
    return 'SELECT fail()'
  }

  describe('whose connection is lost', () => {
    test.each(['swallowAfter', 'cutBefore'] as const)(
      'around its COMMIT (%s) fails in doubt and does not run again',
      async (lose) => {
        const lost = it.proxy[lose]('COMMIT')
        const failure = { code: 'overloaded', details: { isInDoubt: true } }
        await expect(it.database.transact(addNote(2))).rejects.toMatchObject(failure)
        await lost
        expect([await it.countNotes(), runs]).toEqual([lose === 'swallowAfter' ? 2 : 1, 2])
        expect(it.database.count().unknownOutcomes).toBe(1)
      },
    )

    test('before its BEGIN was answered runs again, even if it waits for no rows', async () => {
      const lost = it.proxy.cutBefore('BEGIN')
      await it.database.transact(async ({ send }) => send('INSERT INTO notes VALUES ($1)', [2]))
      await lost
      expect(await it.countNotes()).toBe(2)
    })

    test('before its COMMIT was sent runs again', async () => {
      const lost = it.proxy.cutBefore('INSERT INTO notes')
      expect(await it.database.transact(addNote(2))).toBe('note 2')
      await lost
      expect(await it.countNotes()).toBe(2)
    })
  })

  describe('that fails', () => {
    test.each(['40001', '40P01', '23505', '23503', '55P03', '57014', '57P01', '53300'])(
      'with %s runs again',
      async (state) => {
        const fail = await failTimes(2, state)
        const work = async (session: PostgresSession) => {
          await session.query(fail)
          await session.query('INSERT INTO notes VALUES (2)')
          return 'done'
        }
        expect(await it.database.transact(work)).toBe('done')
        expect(await it.countNotes()).toBe(2)
      },
    )

    test('because its database accepts no connections for a moment runs again, unless its COMMIT was sent', async () => {
      // Copying closes the database, ends its connections, and opens it again.
      const copied = postgres.copyDatabase(it.whole, 'notes_copied')
      const added = Promise.allSettled([2, 3, 4, 5].map((n) => it.database.transact(addNote(n))))
      await copied
      const failures = (await added).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      // The connection may end within a commit.
      for (const failure of failures) expect(failure).toMatchObject({ details: { isInDoubt: true } })
      expect(await it.countNotes()).toBeWithin(5 - failures.length, 6)
      expect(await it.database.transact(addNote(6))).toBe('note 6')
    })

    test('on a full disk is refused with disk_full, and nothing is stored', async () => {
      const fail = await failTimes(9, '53100')
      const work = async (session: PostgresSession) => {
        await addNote(2)(session)
        await session.query(fail)
      }
      await expect(it.database.transact(work)).rejects.toMatchObject({ code: 'disk_full' })
      expect(await it.countNotes()).toBe(1)
    })

    test('repeatedly is refused after six tries, and the error quotes no values of rows', async () => {
      const failure = await it.database.transact(addNote(1)).catch((cause: unknown) => cause)
      expect(failure).toMatchObject({ code: 'overloaded' })
      expect(runs).toBe(7)
      expect(String(failure)).not.toContain('(n)=(1)')
    })

    test('because its own code throws is rolled back', async () => {
      await expect(
        it.database.transact(async (session) => {
          await addNote(2)(session)
          throw new Error('no')
        }),
      ).rejects.toThrow('no')
      expect(await it.countNotes()).toBe(1)
    })

    test('but ignores the failed statement is rolled back and not acknowledged', async () => {
      const work = async (session: PostgresSession) => {
        await addNote(2)(session)
        await session.query('SELECT 1 / 0').catch(() => undefined)
        return 'fine'
      }
      await expect(it.database.transact(work)).rejects.toThrow('rolled back')
      expect(await it.countNotes()).toBe(1)
    })

    test('over its data does not quote the data in the error', async () => {
      const cast = it.database.read(({ query }) => query('SELECT $1::text::int', ['my "secret" password']))
      const failure = await cast.catch((cause: unknown) => cause)
      expect(failure).toMatchObject({ errno: '22P02' })
      expect(Bun.inspect(failure)).not.toMatch(/secret|password/)
    })

    test('for a missing privilege names the grant', async () => {
      await it.direct.transact((session) => session.query("SELECT 'x'"))
      const forbidden = it.database.read((session) => session.query('SELECT * FROM pg_authid'))
      await expect(forbidden).rejects.toThrow('Grant the user of --database-url')
    })
  })

  test('that deadlocks with another runs again, and both commit', async () => {
    await it.database.transact(addNote(2))
    const met = Promise.withResolvers<void>()
    let first = 0
    const swap = (one: number, other: number) => (session: PostgresSession) =>
      session.query('SELECT FROM notes WHERE n = $1 FOR UPDATE', [one]).then(async () => {
        first += 1
        if (first === 2) met.resolve()
        await Promise.race([met.promise, Bun.sleep(2000)])
        await session.query('SELECT FROM notes WHERE n = $1 FOR UPDATE', [other])
        return one
      })
    const both = [it.database.transact(swap(1, 2)), it.database.transact(swap(2, 1))]
    expect(await Promise.all(both)).toEqual([1, 2])
  }, 300_000)

  test('whose table another node has just migrated runs again with new prepared statements', async () => {
    const readAll = () =>
      it.database.transact((session) => session.query('SELECT * FROM notes WHERE n = $1', [1]))
    expect(Array.from(await readAll())).toEqual([{ n: 1 }])
    await it.direct.transact((session) => session.query("ALTER TABLE notes ADD COLUMN said text DEFAULT 'x'"))
    expect(Array.from(await readAll())).toEqual([{ n: 1, said: 'x' }])
  })

  test('that exceeds its timeout is refused and rolled back', async () => {
    const slow = async (session: PostgresSession) => {
      await addNote(2)(session)
      await session.query('SELECT pg_sleep(2.5)')
    }
    await expect(it.database.transact(slow, { within: 600 })).rejects.toMatchObject({ code: 'overloaded' })
    await it.direct.transact((session) => session.query('LOCK TABLE notes'))
    expect([await it.countNotes(), runs]).toEqual([1, 2])
    expect(await it.database.transact(slow, { within: 20_000 })).toBeUndefined()
    expect(await it.countNotes()).toBe(2)
  }, 300_000)

  test('waits for a connection when all are in use', async () => {
    const notes = Array.from({ length: 64 }, (_, n) => it.database.transact(addNote(n + 2)))
    await Promise.all(notes)
    expect(await it.countNotes()).toBe(65)
    expect(it.proxy.countConnections()).toBeLessThanOrEqual(8)
  })
})
