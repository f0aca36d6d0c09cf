// Transactions over PostgreSQL: what was acknowledged happened once, and what was not is known or refused,
// however the connection fails.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Session } from '../../../../src/store/postgres/engine/session.ts'
import { openProxied, type ProxiedDatabase } from '../../../support/proxied-database.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()

postgres.describe('a transaction', () => {
  let it: ProxiedDatabase
  let runs = 0

  beforeEach(async () => {
    runs = 0
    it = await openProxied(postgres)
    // The statements are prepared from here on.
    await it.database.transact(addNote(1))
  })
  afterEach(() => it.close())

  const addNote = (n: number) => async (session: Session) => {
    runs += 1
    await session.query('INSERT INTO notes VALUES ($1)', [n])
    return `note ${n}`
  }

  /** SQL that fails the first `times` times. */
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
    test('after PostgreSQL committed it is acknowledged, and happened once', async () => {
      const lost = it.proxy.swallowAfter('COMMIT')
      expect(await it.database.transact(addNote(2))).toBe('note 2')
      await lost
      expect([await it.countNotes(), runs]).toEqual([2, 2])
    })

    test('before PostgreSQL saw its COMMIT it runs again', async () => {
      const lost = it.proxy.cutBefore('COMMIT')
      expect(await it.database.transact(addNote(2))).toBe('note 2')
      await lost
      expect([await it.countNotes(), runs]).toEqual([2, 3])
    })

    test('before its COMMIT was sent it runs again', async () => {
      const lost = it.proxy.cutBefore('INSERT INTO notes')
      expect(await it.database.transact(addNote(2))).toBe('note 2')
      await lost
      expect(await it.countNotes()).toBe(2)
    })

    test('while PostgreSQL still commits is settled only afterwards', async () => {
      await it.direct.transact(async (session) => {
        await session.query(
          'CREATE FUNCTION dawdle() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END $$ LANGUAGE plpgsql',
        )
        await session.query(`CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION dawdle()`)
      })
      const held = it.proxy.swallowAfter('COMMIT')
      const done = it.database.transact(addNote(2))
      await held
      it.proxy.set('reset')
      it.proxy.set('pass')
      expect(await done).toBe('note 2')
      expect(await it.countNotes()).toBe(2)
    }, 300_000)

    test('also when the settlement loses its own connection, before and after it was done', async () => {
      for (const [n, lose] of [it.proxy.cutBefore, it.proxy.swallowAfter].entries()) {
        const lost = [it.proxy.swallowAfter('COMMIT'), lose('RETURNING mark')]
        expect(await it.database.transact(addNote(n + 2))).toBe(`note ${n + 2}`)
        await Promise.all(lost)
      }
      const undone = [it.proxy.cutBefore('COMMIT'), it.proxy.swallowAfter('RETURNING mark')]
      expect(await it.database.transact(addNote(4))).toBe('note 4')
      await Promise.all(undone)
      expect(await it.countNotes()).toBe(4)
    }, 300_000)
  })

  describe('that fails', () => {
    test.each(['40001', '40P01', '23505', '23503', '55P03', '57014', '57P01', '53300'])(
      'with %s runs again',
      async (state) => {
        const fail = await failTimes(2, state)
        const work = async (session: Session) => {
          await session.query(fail)
          await session.query('INSERT INTO notes VALUES (2)')
          return 'done'
        }
        expect(await it.database.transact(work)).toBe('done')
        expect(await it.countNotes()).toBe(2)
      },
    )

    test('because its database takes no connections for a moment runs again', async () => {
      // That closes the database, ends its connections, and opens it again.
      const copied = postgres.copyDatabase(it.whole, 'notes_copied')
      const added = Promise.all([2, 3, 4, 5].map((n) => it.database.transact(addNote(n))))
      await copied
      expect(await added).toHaveLength(4)
      expect(await it.countNotes()).toBe(5)
    })

    test('on a full disk is told so, and nothing is stored', async () => {
      const fail = await failTimes(9, '53100')
      const work = async (session: Session) => {
        await addNote(2)(session)
        await session.query(fail)
      }
      await expect(it.database.transact(work)).rejects.toMatchObject({ code: 'disk_full' })
      expect(await it.countNotes()).toBe(1)
    })

    test('again and again is refused after six tries, and the values of rows are not in the error', async () => {
      const failure = await it.database.transact(addNote(1)).catch((cause: unknown) => cause)
      expect(failure).toMatchObject({ code: 'overloaded' })
      expect(runs).toBe(7)
      expect(String(failure)).not.toContain('(n)=(1)')
    })

    test('by a mistake of its own is rolled back', async () => {
      await expect(
        it.database.transact(async (session) => {
          await addNote(2)(session)
          throw new Error('no')
        }),
      ).rejects.toThrow('no')
      expect(await it.countNotes()).toBe(1)
    })

    test('and goes on as if nothing was is not acknowledged', async () => {
      const work = async (session: Session) => {
        await addNote(2)(session)
        await session.query('SELECT 1 / 0').catch(() => undefined)
        return 'fine'
      }
      await expect(it.database.transact(work)).rejects.toThrow('rolled back')
      expect(await it.countNotes()).toBe(1)
    })

    test('over its data tells nobody what that was', async () => {
      const cast = it.database.read(({ query }) => query('SELECT $1::text::int', ['my "secret" password']))
      const failure = await cast.catch((cause: unknown) => cause)
      expect(failure).toMatchObject({ errno: '22P02' })
      expect(Bun.inspect(failure)).not.toMatch(/secret|password/)
    })

    test('may not use a table says whom to grant what', async () => {
      await it.direct.transact((session) => session.query("SELECT 'x'"))
      const forbidden = it.database.read((session) => session.query('SELECT * FROM pg_authid'))
      await expect(forbidden).rejects.toThrow('Grant the user of --database-url')
    })
  })

  test('that waits for another in the opposite order runs again, and both happen', async () => {
    await it.database.transact(addNote(2))
    const met = Promise.withResolvers<void>()
    let first = 0
    const swap = (one: number, other: number) => (session: Session) =>
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

  test('whose table another node has migrated meanwhile runs again, with its statements prepared anew', async () => {
    const readAll = () =>
      it.database.transact((session) => session.query('SELECT * FROM notes WHERE n = $1', [1]))
    expect(Array.from(await readAll())).toEqual([{ n: 1 }])
    await it.direct.transact((session) => session.query("ALTER TABLE notes ADD COLUMN said text DEFAULT 'x'"))
    expect(Array.from(await readAll())).toEqual([{ n: 1, said: 'x' }])
  })

  test('that takes longer than its caller can wait is refused when the time is over, and did not happen', async () => {
    const slow = async (session: Session) => {
      await addNote(2)(session)
      await session.query('SELECT pg_sleep(2.5)')
    }
    await expect(it.database.transact(slow, { within: 600 })).rejects.toMatchObject({ code: 'overloaded' })
    await it.direct.transact((session) => session.query('LOCK TABLE notes'))
    expect([await it.countNotes(), runs]).toEqual([1, 2])
    expect(await it.database.transact(slow, { within: 20_000 })).toBeUndefined()
    expect(await it.countNotes()).toBe(2)
  }, 300_000)

  test('that is more than there are connections waits for its turn', async () => {
    const notes = Array.from({ length: 64 }, (_, n) => it.database.transact(addNote(n + 2)))
    await Promise.all(notes)
    expect(await it.countNotes()).toBe(65)
    expect(it.proxy.countConnections()).toBeLessThanOrEqual(8)
  })
})
