// An operator's commands beside the nodes of a PostgreSQL database: accounts and tokens, and what is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccounts } from '../../src/app/account-commands.ts'
import { examine, type Finding } from '../../src/app/doctor/doctor.ts'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import { importReport, newFolder, verification } from '../support/import.ts'
import { live } from '../support/import-cases.ts'
import { configOf } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { writeSource } from '../support/password-pusher.ts'
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres.ts'
import { makeNodeFolder, openPostgresEngine } from '../support/postgres-store.ts'

const PASSWORD = 'correct horse battery'
const fail = (cause: unknown) => {
  throw cause
}

needs('postgres').describe('beside the nodes', () => {
  let postgres: TestPostgres
  let database: TestDatabase
  beforeAll(async () => {
    postgres = await startTestPostgres()
    database = await postgres.newDatabase()
  })
  afterAll(async () => {
    await database?.close()
    await postgres?.stop()
  })

  function open({ address }: Pick<TestDatabase, 'address'>, create?: { keyFile: null }) {
    const parsed = parseDatabaseAddress(address, 'disable')
    if (parsed === null || 'problem' in parsed) throw new Error('no address')
    return openAccounts({
      dataDir: '/nonexistent',
      database: parsed,
      create,
      now: () => 0,
      warn: () => undefined,
    })
  }

  test('accounts and tokens are added, changed and removed, by the clock of the database', async () => {
    await using opened = await open(database)
    const { where, accounts, apiTokens } = opened
    expect(where).toBe(
      `Database: postgres://127.0.0.1:${postgres.server.port}/${database.address.split('/').pop()}`,
    )
    const { createdAt } = await accounts.addAccount({
      email: 'ann@example.org',
      password: PASSWORD,
      isAdmin: true,
    })
    expect(Math.abs(createdAt - Date.now())).toBeLessThan(600_000)
    const { apiToken } = await apiTokens.createApiToken({ email: 'ann@example.org', name: 'laptop' })
    expect((await apiTokens.authenticate(apiToken, fail))?.account.email).toBe('ann@example.org')
    await accounts.setPassword({ email: 'ann@example.org', password: `${PASSWORD} 2`, revoke: true })
    expect(await apiTokens.listApiTokens('ann@example.org')).toEqual([])
    expect(await accounts.removeAccount('ann@example.org')).toEqual({ pushes: 0 })
  })

  test('a database without tables is refused, unless the first account is being added', async () => {
    const empty = await postgres.newEmptyDatabase()
    await expect(open(empty)).rejects.toThrow('Start "oncebox serve" once')
    {
      await using opened = await open(empty, { keyFile: null })
      await opened.accounts.addAccount({ email: 'ann@example.org', password: PASSWORD, isAdmin: true })
    }
    expect(await (await open(empty)).accounts.listAccounts()).toHaveLength(1)
    await empty.close()
  })

  test('a node’s folder without its database is refused, not treated as new', async () => {
    const { dataDir, remove } = makeNodeFolder()
    mkdirSync(dataDir, { mode: 0o700 })
    writeFileSync(join(dataDir, 'serve.node'), '{}')
    const place = { dataDir, database: null, create: { keyFile: null }, now: () => 0, warn: () => undefined }
    await expect(openAccounts(place)).rejects.toThrow('name that database with --database-url')
    remove()
  })

  test('a server that does not answer is reported at once', async () => {
    const address = 'postgres://ann@127.0.0.1:1/boxes'
    await expect(open({ address })).rejects.toThrow('nothing answers there')
  })

  test('Password Pusher is imported, compared and recognised; a dry run writes nothing', async () => {
    const into = await postgres.newEmptyDatabase()
    const folder = newFolder()
    const written = await writeSource(folder, {})
    written.addPush(live(1, { createdAt: Date.now() - 1000 }))
    const { config } = configOf({
      'database-url': `${into.address}?sslmode=disable`,
      'key-file': join(folder, 'key'),
    })
    const { databaseUrl, keyFile } = config
    const wish = { ...written.wish, databaseUrl, keyFile, dataDir: join(folder, 'node') }
    expect((await importReport({ ...wish, mode: 'dry-run' }, 0)).pushes).toMatchObject({ live: 1, known: 0 })
    await expect(verification(wish, 0)).rejects.toThrow(/There is no Oncebox data in postgres:/)
    expect((await importReport(wish, 0)).pushes).toMatchObject({ live: 1, known: 0 })
    expect((await importReport({ ...wish, mode: 'dry-run' }, 0)).pushes).toMatchObject({ live: 0, known: 1 })
    expect((await verification(wish, 0)).differences).toEqual([])
    await written.close()
    await into.close()
    rmSync(folder, { recursive: true })
  })

  describe('the doctor', () => {
    const { dataDir, remove } = makeNodeFolder()
    afterAll(remove)

    async function look(
      flags: Record<string, string> = {},
      { address } = database,
      env: Record<string, string> = {},
    ): Promise<Finding[]> {
      const given = {
        ...{
          'data-dir': dataDir,
          'key-file': join(dataDir, '..', 'instance.key'),
          port: '0',
          'min-free-space': '0',
        },
        ...{ 'database-url': `${address}?sslmode=disable`, ...flags },
      }
      const { config } = configOf(given, env)
      const lookUp = async () => []
      const network = { lookUp, listAddresses: () => [], hostName: () => 'box' }
      return examine({ config, version: '3.0.0', now: Date.now, network, isDeep: true })
    }

    const of = (part: string, findings: Finding[]) =>
      findings.filter((found) => found.part === part).map(({ state, said }) => `${state}: ${said}`)

    test('reports what an empty database lacks', async () => {
      const empty = await postgres.newEmptyDatabase()
      const findings = await look({}, empty)
      expect(of('database', findings)).toEqual(['warning: The database is empty.'])
      expect(of('folder', findings).join()).toContain('warning: There is no data folder')
      expect(findings.filter(({ state }) => state === 'problem')).toEqual([])
      expect(of('backup', findings).join()).toContain('pg_dump')
      await empty.close()
    })

    test('reports that the server answers, and its clock', async () => {
      const served = await postgres.newDatabase()
      const node = await openPostgresEngine(served, {
        uptime: () => wholeMilliseconds(performance.now()),
        systemNow: null,
      })
      const findings = await look({}, served)
      expect(of('database', findings).at(-1)).toMatch(/^ok: postgres:\/\/127\.0\.0\.1:\d+\/\w+ answers\.$/)
      expect(of('sealed files', findings).join()).toContain('Files of live pushes: 0')
      expect(of('unchecked', findings).join()).toContain('Nor were the pages of PostgreSQL')
      expect(of('clock', findings).join()).toMatch(
        /^ok: The clock of this machine says .* as that of the database server does/,
      )
      await node.close()
    })

    test('reports a restored copy in the words of a starting node', async () => {
      const served = await postgres.newDatabase()
      const sql = served.connect(1)
      await sql`UPDATE oncebox.instance SET place = 'another server'`
      const [finding] = (await look({}, served)).filter(({ part }) => part === 'database')
      expect(finding).toMatchObject({ state: 'problem', said: expect.stringContaining('oncebox expire-all') })
      await sql.close({ timeout: 0 })
      await served.close()
    })

    test('names an unreadable certificate once', async () => {
      const address = 'postgres://ann@127.0.0.1:1/boxes?sslrootcert=/nowhere/ca.pem'
      const [finding = ''] = of('database', await look({}, { ...database, address }))
      expect(finding.split('127.0.0.1:1/boxes')).toHaveLength(2)
      expect(finding).toContain('/nowhere/ca.pem')
    })

    test('reports an unreachable server without the password', async () => {
      const address = 'postgres://ann:s3cret@127.0.0.1:1/boxes'
      const findings = await look({}, { ...database, address })
      expect(of('database', findings).join()).toContain('nothing answers there')
      expect(JSON.stringify(findings)).not.toContain('s3cret')
    })

    test('reports a database in the data folder that would be ignored', async () => {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      writeFileSync(join(dataDir, 'oncebox.db'), 'x')
      expect(of('folder', await look()).join()).toContain('holds a database of its own')
      rmSync(join(dataDir, 'oncebox.db'))
    })
  })
})
