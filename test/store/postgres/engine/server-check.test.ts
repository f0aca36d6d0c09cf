// Which PostgreSQL server is refused, with what helps, and what each connection to one is given.

import { expect, test } from 'bun:test'
import { inspectServer, requireServer } from '../../../../src/store/postgres/engine/server-check.ts'
import { findOtherServer, findServerProblems } from '../../../../src/store/postgres/engine/server-facts.ts'
import { explainUnlogged } from '../../../../src/store/postgres/engine/unlogged.ts'
import { requireCurrentSchema } from '../../../../src/store/postgres/schema/schema-version.ts'
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
      // New connections get it a moment later.
      await waitUntil(async () => (await show(name)) !== before)
    }
    await change(`ALTER SYSTEM SET ${setting}`)
    try {
      return await work()
    } finally {
      await change(`ALTER SYSTEM RESET ${name}`)
    }
  }

  test('as Debian sets it up can be used, and says what it is', async () => {
    const { facts, problems } = await inspectServer(connectBy(cluster().address()))
    expect(problems).toEqual([])
    expect(facts).toMatchObject({ fsync: true, fullPageWrites: true, timeline: 1 })
    expect(facts.standbys).toMatchObject({ names: '', following: [] })
    expect(facts.systemIdentifier).toMatch(/^\d{10,}$/)
  })

  test.each([
    ['fsync = off', 'fsync = on'],
    ['full_page_writes = off', 'full_page_writes = on'],
    ['default_transaction_read_only = on', 'only allows reading'],
  ])(
    'with %s is refused, at the start and by new connections',
    async (setting, remedy) => {
      await whileSet(setting, async () => {
        await expect(requireServer(connectBy(cluster().address()), () => undefined)).rejects.toThrow(remedy)
        const told: unknown[] = []
        const database = openDatabase(cluster().address(), told)
        // A connection is tried for longer than the read waits for one.
        await waitUntil(async () => {
          const read = database.read(({ query }) => query('SELECT 1'), { within: 500 })
          await expect(read).rejects.toMatchObject({ code: 'overloaded' })
          return told.length > 0
        })
        expect(String(told[0])).toContain(remedy)
        await database.close()
      })
    },
    300_000,
  )

  test('that does not let the user ask which one it is is refused, with the right that is missing', async () => {
    await cluster().run('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
    try {
      await expect(requireServer(connectBy(cluster().address()), () => undefined)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('GRANT EXECUTE ON FUNCTION pg_control_system()'),
      })
    } finally {
      await cluster().run('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC')
    }
  })

  test.each([
    [
      'DELETE ON oncebox.push_secrets',
      'DELETE on oncebox.push_secrets',
      'GRANT DELETE ON oncebox.push_secrets TO oncebox',
    ],
    [
      'USAGE, UPDATE ON SEQUENCE oncebox.pushes_id_seq',
      'USAGE on the sequence oncebox.pushes_id_seq',
      'GRANT USAGE ON SEQUENCE oncebox.pushes_id_seq TO oncebox',
    ],
    ['USAGE ON SCHEMA oncebox', 'USAGE of the schema oncebox', 'GRANT USAGE ON SCHEMA oncebox TO oncebox'],
    [
      'INSERT, UPDATE ON ALL TABLES IN SCHEMA oncebox',
      'INSERT, UPDATE on oncebox.account_links',
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA oncebox TO oncebox',
    ],
  ])('that lacks the right %s is refused, with the right and the GRANT', async (right, lack, grant) => {
    await cluster().run(`REVOKE ${right} FROM oncebox`)
    try {
      const refused = requireServer(connectBy(cluster().address()), () => undefined)
      const told = await refused.catch((cause: unknown) => cause)
      expect(told).toMatchObject({ code: 'conflict' })
      for (const words of [lack, grant]) expect(String(told)).toContain(words)
    } finally {
      await cluster().run(`GRANT ${right} TO oncebox`)
    }
    await requireServer(connectBy(cluster().address()), () => undefined)
  })

  test('whose row security hides rows is refused', async () => {
    await cluster().run('ALTER TABLE oncebox.pushes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
    const refused = requireServer(connectBy(cluster().address()), () => undefined)
    await expect(refused).rejects.toThrow('ALTER TABLE oncebox.pushes DISABLE ROW LEVEL SECURITY')
    await cluster().run('ALTER TABLE oncebox.pushes DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY')
  })

  test('that would empty tables or sequences after a crash is refused, with what keeps them', async () => {
    const set = (how: string) =>
      cluster().run(`ALTER TABLE oncebox.push_files ${how}; ALTER TABLE oncebox.pushes ${how}`)
    await set('SET UNLOGGED')
    try {
      const refused = requireServer(connectBy(cluster().address()), () => undefined)
      await expect(refused).rejects.toThrow(
        /^After a crash PostgreSQL would empty oncebox\.pushes, oncebox\.push_files.* \(UNLOGGED\)/,
      )
      await expect(refused).rejects.toThrow('ALTER TABLE oncebox.push_files SET LOGGED')
      const [remedy = ''] = /ALTER .*(?=\.)/.exec(String(await refused.catch(String))) ?? []
      await cluster().run(remedy)
      await requireServer(connectBy(cluster().address()), () => undefined)
    } finally {
      await set('SET LOGGED')
    }
  })

  test('tells a sequence apart from a table', () => {
    const words = explainUnlogged(['SEQUENCE oncebox.pushes_id_seq', ...Array(5).fill('TABLE oncebox.t')])
    expect(words).toContain('would empty oncebox.pushes_id_seq, oncebox.t, oncebox.t, oncebox.t and 2 more')
    expect(words).toContain(
      'ALTER SEQUENCE oncebox.pushes_id_seq SET LOGGED; ALTER TABLE oncebox.t SET LOGGED',
    )
  })

  test('with full_page_writes = off is used where the address says that its storage tears no page, with a warning', async () => {
    await whileSet('full_page_writes = off', async () => {
      const address = `${cluster().address()}&full_page_writes=off`
      const warnings: string[] = []
      await requireServer(connectBy(address), (warning) => warnings.push(warning))
      expect(warnings.join()).toContain('full_page_writes = off, which --database-url allows')
      const database = openDatabase(address)
      await database.read(({ query }) => query('SELECT 1')).finally(database.close)
    })
  }, 300_000)

  test('whose database is not in UTF-8 is refused', async () => {
    await cluster().run(
      "CREATE DATABASE latin OWNER oncebox ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
      'postgres',
    )
    const { problems } = await inspectServer(connectBy(cluster().address().replace('/oncebox?', '/latin?')))
    expect(problems).toEqual([expect.stringContaining("ENCODING 'UTF8'")])
  })

  test('that is too old, waits in vain, or is not the one from before, is told', async () => {
    const { facts } = await inspectServer(connectBy(cluster().address()))
    expect(findServerProblems({ ...facts, version: '12.9', versionNumber: 120_009 })).toEqual([
      'PostgreSQL 12.9 is too old. Upgrade the server to version 13 or later.',
    ])
    expect(findServerProblems({ ...facts, stuckCommits: 7 })).toEqual([])
    expect(findServerProblems({ ...facts, stuckCommits: 8 })).toEqual([
      expect.stringContaining('At least 8 transactions wait for a synchronous standby'),
    ])
    expect(findOtherServer(facts, facts)).toBeNull()
    expect(findOtherServer({ ...facts, timeline: 2 }, facts)).toBeNull()
    expect(findOtherServer(facts, { ...facts, timeline: 2 })).toContain('left behind by a failover')
    expect(findOtherServer({ ...facts, systemIdentifier: '1' }, facts)).toContain('another PostgreSQL server')
  })

  test('gives each connection the settings that the promises rest on, whatever the user has', async () => {
    await cluster().run('ALTER ROLE oncebox SET synchronous_commit = off')
    for (const set of ["search_path = 'public'", 'array_nulls = off'])
      await cluster().run(`ALTER ROLE oncebox SET ${set}`)
    const database = openDatabase(cluster().address())
    const [row] = await database.read(({ query }) =>
      query(`SELECT current_setting('synchronous_commit') AS commit, current_setting('search_path') AS path,
        current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('plan_cache_mode') AS plan,
        current_setting('array_nulls') AS nulls, current_setting('row_security') AS policies,
        current_setting('TimeZone') AS zone, current_setting('application_name') AS name`),
    )
    expect(row).toEqual({
      ...{ commit: 'on', path: 'oncebox', statement: '3s', lock: '2s', idle: '4s' },
      ...{ plan: 'force_generic_plan', nulls: 'on', policies: 'off', zone: 'UTC', name: 'oncebox' },
    })
    await cluster().run('ALTER ROLE oncebox RESET ALL')
    await database.close()
  })

  test('runs no function of another user who may create some in the database', async () => {
    // Before version 15, everybody may. An operator that fits better than the server's own is preferred to it.
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
      expect((await inspectServer(connectBy(cluster().address()))).problems).toEqual([])
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
