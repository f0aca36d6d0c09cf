// Imports from PostgreSQL and MariaDB, if they are installed: all that holds for SQLite, the real data, and
// what only servers can do.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { openPasswordPusher } from '../../src/importing/source/password-pusher.ts'
import { openServerDatabase } from '../../src/importing/source/server-database.ts'
import { type DatabaseServer, startDatabaseServer } from '../support/database-servers.ts'
import { fixtureCases } from '../support/fixture-cases.ts'
import { copyFixture } from '../support/fixture-copy.ts'
import { importReport, newFolder, runImport } from '../support/import.ts'
import { importCases, live } from '../support/import-cases.ts'
import { START } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { MASTER_KEY, writeSource } from '../support/password-pusher.ts'
import { serverSink } from '../support/password-pusher-sinks.ts'

const START_MS = 300_000

for (const engine of ['postgres', 'mariadb'] as const)
  needs(engine).describe(`from ${engine}`, () => {
    let server: DatabaseServer

    beforeAll(async () => {
      server = await startDatabaseServer(engine)
    }, START_MS)
    afterAll(() => server.stop())

    importCases(() => server)

    describe('the real data', () =>
      fixtureCases(async () => {
        const sink = await serverSink(server)
        await copyFixture(sink)
        return sink.database
      }))

    describe('as a server', () => serverCases(() => server))
  })

function serverCases(server: () => DatabaseServer): void {
  const address = (database: string, change: (url: URL) => void = () => undefined) => {
    const url = new URL(database)
    change(url)
    return url.href
  }

  async function written(pushes: number) {
    const folder = newFolder()
    const source = await writeSource(folder, { server: server() })
    for (let id = 1; id <= pushes; id += 1) source.addPush(live(id, { createdAt: START - id * 1000 }))
    await source.flush()
    return { ...source, folder, dataDir: join(folder, 'box') }
  }

  async function refusal(database: string, parts: { sourcePassword?: string } = {}): Promise<string> {
    const folder = newFolder()
    const wish = { database, dataDir: join(folder, 'box'), ...parts }
    const message = await runImport(wish, START).then(
      () => 'it came',
      (cause: Error) => cause.message,
    )
    rmSync(folder, { recursive: true, force: true })
    expect(message).not.toContain(server().password)
    expect(message).not.toContain(encodeURIComponent(server().password))
    return message
  }

  test('an unreachable or unreadable server is explained without the password', async () => {
    const { wish, run, close, folder } = await written(1)
    const { database } = wish
    const closed = address(database, (url) => {
      url.port = '1'
    })
    expect(await refusal(closed)).toMatch(/127\.0\.0\.1:1\/pwpush_\d+: nothing answers there/)
    const nowhere = address(database, (url) => {
      url.hostname = 'no-such-host.invalid'
    })
    expect(await refusal(nowhere)).toMatch(/no-such-host\.invalid:\d+\/pwpush_\d+: nothing answers there/)
    expect(await refusal(database, { sourcePassword: 'another one' })).toMatch(
      /refuses the user "pwpush" or the password/,
    )
    const missing = address(database, (url) => {
      url.pathname = '/pwpush_missing'
    })
    expect(await refusal(missing)).toContain('there is no database "pwpush_missing"')
    const of = server().engine === 'postgres' ? 'postgres' : 'mysql'
    const socket = `${of}://pwpush@/pwpush_1?socket=${folder}/none`
    expect(await refusal(socket)).toContain(`${of}://pwpush_1 at ${folder}/none: nothing answers there`)
    const empty = await server().newDatabase()
    expect(await refusal(empty.address)).toContain('it has no tables')
    await empty.sql.unsafe('CREATE TABLE passwords (id integer)').simple()
    expect(await refusal(empty.address)).toContain('version 1; upgrade that server to 2.x')
    await empty.close()
    const stranger = address(database, (url) => {
      url.username = 'stranger'
      url.password = 'stranger'
    })
    expect(await refusal(stranger)).toMatch(/may not read|none that may be read/)
    await run('ALTER TABLE pushes DROP COLUMN retrieval_step')
    expect(await refusal(database)).toContain('its table pushes has no retrieval_step')
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a password from elsewhere takes precedence over the one in the address', async () => {
    const { wish, close, folder, dataDir } = await written(2)
    for (const password of ['', 'another']) {
      const database = address(wish.database, (url) => {
        url.password = password
      })
      const given = {
        ...wish,
        database,
        sourcePassword: server().password,
        dataDir,
        mode: 'dry-run' as const,
      }
      expect((await importReport(given, START)).pushes.live).toBe(2)
    }
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('TLS is used as the address says, and a certificate that does not fit is refused', async () => {
    const { wish, close, folder, dataDir } = await written(1)
    const bring = (query: string) =>
      importReport({ ...wish, database: `${wish.database}?${query}`, dataDir, mode: 'dry-run' }, START)
    const authority = encodeURIComponent(server().authority)
    for (const query of [
      'sslmode=disable',
      'sslmode=prefer',
      'sslmode=require',
      `sslmode=verify-full&sslrootcert=${authority}`,
    ])
      expect((await bring(query)).pushes.live).toBe(1)
    expect(await refusal(`${wish.database}?sslmode=verify-full`)).toContain('its certificate is not trusted')
    expect(await refusal(`${wish.database}?sslmode=verify-full&sslrootcert=/no/such/file`)).toContain(
      '/no/such/file',
    )
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the database is read through its socket, too', async () => {
    const { wish, close, folder, dataDir } = await written(1)
    const { user, password, socket, port } = server()
    const name = new URL(wish.database).pathname
    const scheme = new URL(wish.database).protocol
    const query = new URLSearchParams(
      server().engine === 'postgres' ? { host: socket, port: String(port) } : { socket },
    )
    const database = `${scheme}//${user}:${encodeURIComponent(password)}@${name}?${query}`
    expect((await importReport({ ...wish, database, dataDir, mode: 'dry-run' }, START)).pushes.live).toBe(1)
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a running old server is reported, and its writes during the import are not imported', async () => {
    const { wish, run, close, folder, dataDir } = await written(3)
    const said: string[] = []
    const late = await lateSource(wish.database, async () => {
      await run(`INSERT INTO audit_logs (push_id, kind, created_at, updated_at)
        VALUES (1, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
      await run("UPDATE pushes SET payload_ciphertext = 'other'")
    })
    expect(late.entries).toBe(0)
    expect(late.payloads).toEqual(['secret 3', 'secret 2', 'secret 1'])
    await runImport({ ...wish, dataDir }, START, (line) => said.push(line)).catch(() => undefined)
    expect(said.join('\n')).toMatch(/Other connections .* open: the old server seems to run/)
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  const openDatabase = (database: string) => {
    const parsed = parseDatabaseAddress(database)
    if (parsed === null || 'problem' in parsed) throw new Error('no address')
    return openServerDatabase(parsed, () => '')
  }

  const openServer = async (database: string) =>
    openPasswordPusher({
      database: await openDatabase(database),
      storage: null,
      masterKeys: [MASTER_KEY],
      relieve: () => undefined,
    })

  /** Opens the source, changes something, and then reads it. */
  async function lateSource(database: string, happen: () => Promise<void>) {
    const source = await openServer(database)
    await happen()
    const payloads: unknown[] = []
    let entries = 0
    for await (const push of source.readPushes()) {
      if ('problem' in push) continue
      payloads.push(push.payload)
      entries += push.entries.length
    }
    await source.close()
    return { payloads, entries }
  }

  test('texts in another encoding are imported unchanged', async () => {
    const folder = newFolder()
    const source = await writeSource(folder, { server: server(), latin1: true })
    const name = 'Überraschung für Ærøs Ñandú'
    const files = [{ key: 'abcdkey1', filename: 'größe.txt', content: Buffer.from('x') }]
    source.addPush(live(1, { name, files, payload: 'ünï ☃ 漢字' }))
    await source.flush()
    const pushes = await Array.fromAsync((await openServer(source.wish.database)).readPushes())
    expect(pushes).toMatchObject([{ name, payload: 'ünï ☃ 漢字', files: [{ filename: 'größe.txt' }] }])
    await source.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('tables may be in another schema, and times may have a time zone', async () => {
    const { wish, run, close, folder } = await written(2)
    if (server().engine === 'postgres') {
      await run('ALTER TABLE pushes ALTER created_at TYPE timestamptz')
      await run('ALTER SCHEMA public RENAME TO pw')
      const source = await openServer(`${wish.database}?schema_search_path=pw`)
      expect(await Array.fromAsync(source.readPushes())).toMatchObject([{ id: 2 }, { id: 1 }])
      await source.close()
      expect(await refusal(wish.database)).toContain('it has no tables, or none that may be read')
    }
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('times are UTC to the microsecond, whatever the time zone of server and session', async () => {
    const { wish, run, close, folder } = await written(2)
    const text = (id: number, time: string) =>
      run(`UPDATE pushes SET created_at = '${time}', updated_at = '${time}' WHERE id = ${id}`)
    await text(1, '2026-07-01 12:00:00.000002')
    await text(2, '2026-07-01 12:00:00.000001')
    const pushes = await Array.fromAsync((await openServer(wish.database)).readPushes())
    expect(pushes.map(({ id }) => id)).toEqual([2, 1])
    expect(pushes).toMatchObject([{ createdAt: Date.UTC(2026, 6, 1, 12) }, {}])
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('nothing can be written through the connection', async () => {
    const { wish, close, folder } = await written(1)
    const opened = await openDatabase(wish.database)
    await expect(opened.read("UPDATE pushes SET url_token = 'x'")).rejects.toThrow(/read.only/i)
    await opened.close()
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a lost connection is reported, and never resumed with a later snapshot', async () => {
    const { wish, run, close, folder } = await written(1_200)
    const source = await openServer(wish.database)
    let came = 0
    const read = async () => {
      for await (const _push of source.readPushes()) {
        came += 1
        if (came === 1) await killOthers(run)
      }
    }
    await expect(read()).rejects.toThrow(/pwpush_\d+: the connection was lost .*Nothing was imported/)
    expect(came).toBeLessThan(1_200)
    await source.close()
    await close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Ends the connection of the import. */
  async function killOthers(run: (sql: string) => Promise<void>): Promise<void> {
    if (server().engine === 'postgres')
      return run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'oncebox import'`)
    await run(`SET @mine = (SELECT max(id) FROM information_schema.processlist WHERE db = DATABASE())`)
    await run('KILL CONNECTION @mine')
  }
}
