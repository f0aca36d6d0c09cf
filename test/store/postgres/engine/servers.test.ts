// The PostgreSQL server under the connections: which one is refused, and what its restarts and failovers do.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { randomKey } from '../../../../src/crypto/random.ts'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { inspectServer, requireServer } from '../../../../src/store/postgres/engine/server-check.ts'
import { findOtherServer, findServerProblems } from '../../../../src/store/postgres/engine/server-facts.ts'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { explainUnreachable } from '../../../../src/store/postgres/reaching/unreachable.ts'
import { migrate, requireCurrentSchema } from '../../../../src/store/postgres/schema/migrate.ts'
import { type Cluster, startCluster } from '../../../support/cluster.ts'
import { installedEngines } from '../../../support/database-servers.ts'
import { type FaultProxy, startFaultProxy } from '../../../support/fault-proxy.ts'

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

describe.skipIf(!installedEngines().includes('postgres'))('a PostgreSQL server', () => {
  let cluster: Cluster
  let proxy: FaultProxy
  beforeAll(async () => {
    cluster = await startCluster({ isDurable: true, parent: MEMORY })
    proxy = await startFaultProxy(cluster.port)
    await migrate({ connect: connect(cluster.address()), onWarning: () => undefined })
    await open(cluster.address()).transact(({ query }) => query('CREATE TABLE notes (n int PRIMARY KEY)'))
  }, 120_000)
  afterAll(async () => {
    await proxy.close()
    await cluster.remove()
  })

  function addressOf(text: string) {
    const address = parseDatabaseAddress(text)
    if (address === null || 'problem' in address) throw new Error(`no address: ${text}`)
    return address
  }

  const connect = (text: string) => connectTo(addressOf(text))

  const open = (address: string, told: unknown[] = []) =>
    createDatabase({
      connect: connect(address),
      newOperationId: () => randomKey(16),
      onState: (state) => told.push(state),
    })
  const addNote = (database: ReturnType<typeof open>, n: number, within = 7000) =>
    database.transact(({ query }) => query('INSERT INTO notes VALUES ($1)', [n]), { within })
  const countNotes = async (on = cluster) => {
    const [row] = await on.run<{ count: number }>('SELECT count(*)::int AS count FROM oncebox.notes')
    return row?.count
  }

  async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
    while (
      !(await work().then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50)
  }

  async function whileSet<T>(setting: string, work: () => Promise<T>): Promise<T> {
    const reload = async () => {
      await cluster.run('SELECT pg_reload_conf()')
      await Bun.sleep(300)
    }
    await cluster.run(`ALTER SYSTEM SET ${setting}`)
    await reload()
    try {
      return await work()
    } finally {
      await cluster.run(`ALTER SYSTEM RESET ${setting.split(' ')[0]}`)
      await reload()
    }
  }

  test('as Debian sets it up can be used, and says what it is', async () => {
    const { facts, problems } = await inspectServer(connect(cluster.address()))
    expect(problems).toEqual([])
    expect(facts).toMatchObject({ fsync: true, fullPageWrites: true, timeline: 1, replication: 'no standby' })
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
        await expect(requireServer(connect(cluster.address()), () => undefined)).rejects.toThrow(remedy)
        const told: unknown[] = []
        const database = open(cluster.address(), told)
        await expect(database.read(({ query }) => query('SELECT 1'), { within: 500 })).rejects.toMatchObject({
          code: 'overloaded',
        })
        expect(String(told[0])).toContain(remedy)
        await database.close()
      })
    },
    30_000,
  )

  test('that does not let the user ask which one it is is refused, with the right that is missing', async () => {
    await cluster.run('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
    try {
      await expect(requireServer(connect(cluster.address()), () => undefined)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('GRANT EXECUTE ON FUNCTION pg_control_system()'),
      })
    } finally {
      await cluster.run('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC')
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
    await cluster.run(`REVOKE ${right} FROM oncebox`)
    try {
      const refused = requireServer(connect(cluster.address()), () => undefined)
      const told = await refused.catch((cause: unknown) => cause)
      expect(told).toMatchObject({ code: 'conflict' })
      for (const words of [lack, grant]) expect(String(told)).toContain(words)
    } finally {
      await cluster.run(`GRANT ${right} TO oncebox`)
    }
    await requireServer(connect(cluster.address()), () => undefined)
  })

  test('whose row security hides rows is refused', async () => {
    await cluster.run('ALTER TABLE oncebox.pushes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
    const refused = requireServer(connect(cluster.address()), () => undefined)
    await expect(refused).rejects.toThrow('ALTER TABLE oncebox.pushes DISABLE ROW LEVEL SECURITY')
    await cluster.run('ALTER TABLE oncebox.pushes DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY')
  })

  test('with full_page_writes = off is used where the address says that its storage tears no page, with a warning', async () => {
    await whileSet('full_page_writes = off', async () => {
      const address = `${cluster.address()}&full_page_writes=off`
      const warnings: string[] = []
      await requireServer(connect(address), (warning) => warnings.push(warning))
      expect(warnings.join()).toContain('full_page_writes = off, which --database-url allows')
      const database = open(address)
      await database.read(({ query }) => query('SELECT 1')).finally(database.close)
    })
  }, 30_000)

  test('whose database is not in UTF-8 is refused', async () => {
    await cluster.run(
      "CREATE DATABASE latin OWNER oncebox ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
      'postgres',
    )
    const { problems } = await inspectServer(connect(cluster.address().replace('/oncebox?', '/latin?')))
    expect(problems).toEqual([expect.stringContaining("ENCODING 'UTF8'")])
  })

  test('that is too old, or not the one from before, is told', async () => {
    const { facts } = await inspectServer(connect(cluster.address()))
    expect(findServerProblems({ ...facts, version: '12.9', versionNumber: 120_009 })).toEqual([
      'PostgreSQL 12.9 is too old. Upgrade the server to version 13 or later.',
    ])
    expect(findOtherServer(facts, facts)).toBeNull()
    expect(findOtherServer({ ...facts, timeline: 2 }, facts)).toBeNull()
    expect(findOtherServer(facts, { ...facts, timeline: 2 })).toContain('left behind by a failover')
    expect(findOtherServer({ ...facts, systemIdentifier: '1' }, facts)).toContain('another PostgreSQL server')
  })

  test('gives each connection the settings that the promises rest on, whatever the user has', async () => {
    await cluster.run('ALTER ROLE oncebox SET synchronous_commit = off')
    for (const set of ["search_path = 'public'", 'array_nulls = off'])
      await cluster.run(`ALTER ROLE oncebox SET ${set}`)
    const database = open(cluster.address())
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
    await cluster.run('ALTER ROLE oncebox RESET ALL')
    await database.close()
  })

  test('runs no function of another user who may create some in the database', async () => {
    // Before version 15, everybody may. An operator that fits better than the server's own is preferred to it.
    await cluster.run('CREATE ROLE neighbour; GRANT CREATE ON SCHEMA public TO neighbour')
    await cluster.run(`SET ROLE neighbour; SET search_path = public;
      CREATE FUNCTION steal(a anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'stolen as %', current_user; END $$;
      CREATE FUNCTION mul(numeric, int) RETURNS numeric LANGUAGE sql AS 'SELECT steal($1)::numeric';
      CREATE OPERATOR * (LEFTARG = numeric, RIGHTARG = int, FUNCTION = mul);
      CREATE FUNCTION cat(int, text) RETURNS text LANGUAGE sql AS 'SELECT steal($1)';
      CREATE OPERATOR || (LEFTARG = int, RIGHTARG = text, FUNCTION = cat);
      CREATE FUNCTION to_regclass(unnamed text) RETURNS regclass LANGUAGE sql AS 'SELECT steal($1)::regclass'`)
    await cluster.run('ALTER ROLE oncebox SET search_path = public, pg_catalog')
    try {
      expect((await inspectServer(connect(cluster.address()))).problems).toEqual([])
      const pool = connect(cluster.address())(1)
      await requireCurrentSchema(pool).finally(() => pool.close({ timeout: 0 }))
      const database = open(cluster.address())
      await database.read(({ query }) => query('SELECT 1')).finally(database.close)
    } finally {
      await cluster.run('ALTER ROLE oncebox RESET ALL')
      await cluster.run('DROP OWNED BY neighbour; DROP ROLE neighbour')
    }
  })

  test('that crashes again and again under load loses nothing acknowledged, and is used again at once', async () => {
    const database = open(cluster.address())
    let acknowledged = 0
    let refused = 0
    let isOver = false
    const writers = Array.from({ length: 16 }, async (_, writer) => {
      for (let n = 0; !isOver; n += 1) {
        await addNote(database, 1 + writer * 1_000_000 + n).then(
          () => {
            acknowledged += 1
          },
          (cause) => {
            expect(cause).toMatchObject({ code: 'overloaded' })
            refused += 1
          },
        )
      }
    })
    for (let crash = 0; crash < 3; crash += 1) {
      await Bun.sleep(300)
      await cluster.stop('immediate')
      await cluster.start()
      const before = acknowledged
      const started = performance.now()
      while (acknowledged < before + 16) await Bun.sleep(20)
      expect(performance.now() - started).toBeLessThan(30_000)
    }
    isOver = true
    await Promise.all(writers)
    // A refused one may have happened, when its outcome could not be known.
    const found = Number(await countNotes())
    expect(found).toBeGreaterThanOrEqual(acknowledged)
    expect(found).toBeLessThanOrEqual(acknowledged + refused)
    await database.close()
  }, 120_000)

  test('that ends every connection is used on', async () => {
    const database = open(cluster.address())
    const before = Number(await countNotes())
    const notes = Array.from({ length: 200 }, (_, n) => addNote(database, -1 - n))
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'oncebox'"
    for (let round = 0; round < 5; round += 1) await cluster.run(end)
    await Promise.all(notes)
    expect(await countNotes()).toBe(before + 200)
    await database.close()
  }, 60_000)

  test('and its standby: what waits for the standby is not acknowledged, a failover is followed, and the old server is refused', async () => {
    const standby = await cluster.addStandby()
    try {
      const { problems } = await inspectServer(connect(standby.address()))
      expect(problems).toEqual([expect.stringContaining('The server is a standby')])
      expect((await inspectServer(connect(cluster.address()))).facts.replication).toBe('synchronous')

      const told: unknown[] = []
      const database = open(cluster.address(proxy.port), told)
      await addNote(database, -1001)
      const hosts = `127.0.0.1:1,127.0.0.1:${cluster.port},127.0.0.1:${standby.port}`
      const toldOfSeveral: unknown[] = []
      const several = open(
        `${cluster.address().replace(/127[^/]*/, hosts)}&target_session_attrs=read-write`,
        toldOfSeveral,
      )
      await addNote(several, -3001)
      await standby.stop('fast')
      const started = performance.now()
      await expect(addNote(database, -1002, 2000)).rejects.toMatchObject({ code: 'overloaded' })
      expect(performance.now() - started).toBeLessThan(10_000)
      const many = Array.from({ length: 60 }, (_, n) =>
        addNote(database, -2000 - n, 4000).catch(() => undefined),
      )
      await Promise.all(many)
      await expect(addNote(database, -1003, 3000)).rejects.toMatchObject({ code: 'overloaded' })
      const isRefused = () =>
        String(told.at(-1)).includes('wait for a synchronous standby that does not answer')
      for (let n = -4000; !isRefused(); n -= 1) await addNote(database, n, 2000).catch(() => undefined)
      const [row] = await cluster.run<{ connections: number }>(
        "SELECT count(*)::int AS connections FROM pg_stat_activity WHERE usename = 'oncebox'",
      )
      expect(row?.connections).toBeLessThan(50)
      await standby.start()
      await untilItWorks(() => addNote(database, -1004))

      await standby.promote()
      // The old server goes on, and takes what waits for the standby in vain.
      await untilItWorks(() => addNote(several, -3002))
      expect(await standby.run('SELECT FROM oncebox.notes WHERE n = -3002')).toHaveLength(1)
      proxy.lead(standby.port)
      await addNote(database, -1006)
      expect(await countNotes(standby)).toBe(2 + Number(await countNotes()))
      told.length = 0
      proxy.lead(cluster.port)
      await expect(addNote(database, -1005, 1000)).rejects.toMatchObject({ code: 'overloaded' })
      expect(String(told.at(-1))).toContain('left behind by a failover')
      await database.close()

      await standby.stop('immediate')
      await expect(addNote(several, -3003, 1000)).rejects.toMatchObject({ code: 'overloaded' })
      const { error } = explainUnreachable(addressOf(cluster.address()), toldOfSeveral.at(-1)) ?? {}
      expect(error?.message).toContain('left behind by a failover')
      expect(error?.message).toContain('127.0.0.1:1: nothing answers there')
      await standby.start()
      await untilItWorks(() => addNote(several, -3004))
      expect(await standby.run('SELECT FROM oncebox.notes WHERE n = -3004')).toHaveLength(1)
      await several.close()
    } finally {
      await standby.remove()
    }
  }, 120_000)
})
