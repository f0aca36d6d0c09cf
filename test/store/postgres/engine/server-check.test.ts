// Which PostgreSQL servers are refused, with the remedy, and the settings of each connection.

import { expect, test } from 'bun:test'
import { findServerProblems, requireServer } from '../../../../src/store/postgres/engine/session.ts'
import { requireCurrentSchema } from '../../../../src/store/postgres/migrate.ts'
import { connectBy, openDatabase, useCluster } from '../../../support/use-cluster.ts'
import { waitUntil } from '../../../support/waiting.ts'

const { cluster, describe } = useCluster()

describe('a PostgreSQL server', () => {
  async function show(name: string): Promise<string | undefined> {
    const [row] = await cluster().run<{ setting: string }>(`SELECT current_setting('${name}') AS setting`)
    return row?.setting
  }

  async function whileSet<T>(setting: string, work: () => Promise<T>): Promise<T> {
    const [name = ''] = setting.split(' ')
    const change = async (text: string) => {
      const before = await show(name)
      await cluster().run(text)
      await cluster().run('SELECT pg_reload_conf()')
      // New connections get the setting a moment later.
      await waitUntil(async () => (await show(name)) !== before)
    }
    await change(`ALTER SYSTEM SET ${setting}`)
    try {
      return await work()
    } finally {
      await change(`ALTER SYSTEM RESET ${name}`)
    }
  }

  test('as Debian sets it up can be used', async () => {
    await requireServer(connectBy(cluster().address()))
  })

  test('with fsync = off is refused', async () => {
    await whileSet('fsync = off', async () => {
      await expect(requireServer(connectBy(cluster().address()))).rejects.toThrow('fsync = on')
    })
  }, 300_000)

  test('that is too old, or a standby, is refused with the remedy', () => {
    const facts = { version: '15.6', versionNumber: 150_006, isStandby: false, fsync: true }
    expect(findServerProblems(facts)).toEqual([])
    expect(findServerProblems({ ...facts, version: '12.9', versionNumber: 120_009 })).toEqual([
      'PostgreSQL 12.9 is too old. Upgrade the server to version 13 or later.',
    ])
    expect(findServerProblems({ ...facts, isStandby: true })).toEqual([
      expect.stringContaining('Name the primary in --database-url'),
    ])
  })

  test('gives each connection the settings that the promises need, whatever its user’s defaults', async () => {
    await cluster().run('ALTER ROLE oncebox SET synchronous_commit = off')
    await cluster().run("ALTER ROLE oncebox SET search_path = 'public'")
    const database = openDatabase(cluster().address())
    const [row] = await database.read(({ query }) =>
      query(`SELECT current_setting('synchronous_commit') AS commit, current_setting('search_path') AS path,
        current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('plan_cache_mode') AS plan,
        current_setting('row_security') AS policies,
        current_setting('TimeZone') AS zone, current_setting('application_name') AS name`),
    )
    expect(row).toEqual({
      ...{ commit: 'on', path: 'oncebox', statement: '3s', lock: '2s', idle: '4s' },
      ...{ plan: 'force_generic_plan', policies: 'off', zone: 'UTC', name: 'oncebox' },
    })
    await cluster().run('ALTER ROLE oncebox RESET ALL')
    await database.close()
  })

  test('runs no function that another user created in the database', async () => {
    // Before version 15, every user may create functions in `public`. PostgreSQL prefers an operator whose
    // types fit better to its own.
    await cluster().run('CREATE ROLE neighbour; GRANT CREATE ON SCHEMA public TO neighbour')
    await cluster().run(`SET ROLE neighbour; SET search_path = public;
      CREATE FUNCTION steal(a anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'stolen as %', current_user; END $$;
      CREATE FUNCTION mul(numeric, int) RETURNS numeric LANGUAGE sql AS 'SELECT steal($1)::numeric';
      CREATE OPERATOR * (LEFTARG = numeric, RIGHTARG = int, FUNCTION = mul);
      CREATE FUNCTION cat(int, text) RETURNS text LANGUAGE sql AS 'SELECT steal($1)';
      CREATE OPERATOR || (LEFTARG = int, RIGHTARG = text, FUNCTION = cat);
      CREATE FUNCTION to_regclass(unnamed text) RETURNS regclass LANGUAGE sql AS 'SELECT steal($1)::regclass'`)
    await cluster().run('ALTER ROLE oncebox SET search_path = public, pg_catalog')
    try {
      await requireServer(connectBy(cluster().address()))
      const pool = connectBy(cluster().address())(1)
      await requireCurrentSchema(pool).finally(() => pool.close({ timeout: 0 }))
      const database = openDatabase(cluster().address())
      await database.read(({ query }) => query('SELECT 1')).finally(database.close)
    } finally {
      await cluster().run('ALTER ROLE oncebox RESET ALL')
      await cluster().run('DROP OWNED BY neighbour; DROP ROLE neighbour')
    }
  })
})
