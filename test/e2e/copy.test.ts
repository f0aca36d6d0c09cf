// The compiled binary copies everything from a folder to PostgreSQL, and back: earlier pushes can be opened
// afterwards, nothing is served at both ends, and if a copy is interrupted, a message says what to do.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { parseDatabaseAddress } from '../../src/domain/database-address.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { connectTo } from '../../src/store/postgres/reaching/address.ts'
import { BINARY, createStage, runBinary, runOnDatabase, type Started } from '../support/binary.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type DatabaseServer, type ServerDatabase, startDatabaseServer } from '../support/database-servers.ts'
import { needs } from '../support/needs.ts'
import { forgetBirth } from '../support/put-back.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'
import { waitUntil } from '../support/waiting.ts'

const PASSWORD = 'correct horse battery'
const ANN = 'ann@example.org'
const SMALL = 'x'.repeat(20_000)
/** Large enough for two parts in a bucket. */
const LARGE = 'x'.repeat(6_000_000)

needs('postgres').describe('oncebox copy', () => {
  const stage = createStage()
  let server: DatabaseServer
  let bucket: TestBucket
  let secrets: Record<string, string>
  beforeAll(async () => {
    server = await startDatabaseServer('postgres')
    bucket = await openTestBucket()
    secrets = {
      ONCEBOX_DATABASE_PASSWORD: server.password,
      ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    }
  })
  afterAll(async () => {
    await stage.clear()
    await bucket?.close()
    await server?.stop()
  })

  type Room = { folder: string; home: string; keyFile: string; database: ServerDatabase; address: string }

  type Filled = { folder: string; shared: Shared[]; authorization: string }

  /** Folders with data, by the content of their file. */
  const filled = new Map<string, Promise<Filled>>()

  async function fill(file: string): Promise<Filled> {
    const folder = stage.folder()
    const first = await stage.start({ dataDir: folder })
    await first.command(['user', 'add', ANN, '--password-stdin'], `${PASSWORD}\n`)
    const authorization = `Bearer ${(await first.command(['token', 'create', ANN])).stdout.trim()}`
    const shared = await share(first, authorization, file)
    await first.end()
    return { folder, shared, authorization }
  }

  /** A folder with data, and an empty database. */
  async function newRoom(file = SMALL): Promise<Room & Filled> {
    const filling = filled.get(file) ?? fill(file)
    filled.set(file, filling)
    const { shared, authorization, ...model } = await filling
    const [folder, home, database] = [stage.folder(), stage.folder(), await server.newDatabase()]
    cpSync(model.folder, folder, { recursive: true })
    forgetBirth(folder)
    const copied = new Database(join(folder, 'oncebox.db'))
    copied.run('UPDATE home SET path = ?', [realpathSync(folder)])
    copied.close()
    return {
      ...{ folder, home, database, keyFile: join(folder, 'instance.key') },
      shared,
      authorization,
      address: `postgres://${server.user}@127.0.0.1:${server.port}/${database.name}?sslmode=disable`,
    }
  }

  const copyArgs = (...flags: string[]) => ['copy', ...flags, '--yes']
  const copy = (...flags: string[]) => runOnDatabase(copyArgs(...flags), { env: secrets })
  const toServer = ({ folder, keyFile, address }: Room) => [
    '--to',
    address,
    '--data-dir',
    folder,
    '--key-file',
    keyFile,
  ]
  const fromServer = ({ keyFile, address }: Pick<Room, 'keyFile' | 'address'>, dataDir: string) => [
    ...['--from', address, '--data-dir', dataDir, '--key-file', keyFile],
    ...['--files-url', bucket.url],
  ]
  const nodeOf = ({ keyFile, address }: Room, more: Record<string, string> = {}) => ({
    ...secrets,
    ...{ ONCEBOX_DATABASE_URL: address, ONCEBOX_KEY_FILE: keyFile },
    ...more,
  })
  const withKey = ({ keyFile }: Room) => ({ env: { ONCEBOX_KEY_FILE: keyFile } })
  const inBucket = () => ({ ONCEBOX_FILES_URL: bucket.url })

  type Shared = { token: string; query: string; payload: string | null; file: string | null }

  async function share({ ask, create }: Started, authorization: string, content = SMALL): Promise<Shared[]> {
    const tokenOf = async (response: Response) => {
      expect(response.status).toBe(201)
      return String((await response.json()).url_token)
    }
    const text = await tokenOf(await create({ payload: 'plain text', expire_after_views: 90 }))
    const locked = await tokenOf(
      await create({ payload: 'locked', passphrase: 'sesame', expire_after_views: 90 }),
    )
    const owned = await tokenOf(
      await create(
        { payload: 'https://a.example/', kind: 'url', name: 'mine', expire_after_views: 90 },
        { authorization },
      ),
    )
    const form = new FormData()
    form.set('push[payload]', 'with a file')
    form.set('push[expire_after_views]', '90')
    form.set('push[files][]', new File([content], 'large.txt'))
    const filed = await tokenOf(
      await ask('/api/v2/pushes', { method: 'POST', body: form, headers: { authorization } }),
    )
    const spent = await tokenOf(await create({ payload: 'once', expire_after_views: 1 }))
    await ask(`/api/v2/pushes/${spent}`)
    const body = JSON.stringify({ request: { name: 'asked', passphrase: 'sesame' } })
    const headers = { authorization, 'content-type': 'application/json' }
    await tokenOf(await ask('/api/oncebox/requests', { method: 'POST', body, headers }))
    return [
      { token: text, query: '', payload: 'plain text', file: null },
      { token: locked, query: '?passphrase=sesame', payload: 'locked', file: null },
      { token: owned, query: '', payload: 'https://a.example/', file: null },
      { token: filed, query: '', payload: 'with a file', file: content },
      { token: spent, query: '', payload: null, file: null },
    ]
  }

  /**
   * Checks that all pushes open, that the account's list is the same, and that new pushes get later ids than
   * the copied ones.
   */
  async function requireAll(
    { ask, create }: Started,
    { shared, authorization }: { shared: Shared[]; authorization: string },
  ) {
    for (const { token, query, payload, file } of shared) {
      const answer = await (await ask(`/api/v2/pushes/${token}${query}`)).json()
      expect(answer.payload).toBe(payload)
      if (file === null) continue
      const { pathname } = new URL(answer.files[0].url)
      expect((await (await ask(pathname)).text()) === file).toBe(true)
    }
    const active = await (await ask('/api/v2/pushes/active', { headers: { authorization } })).json()
    expect(active.map(({ name }: { name: string }) => name).toSorted()).toEqual(['', 'mine'])
    const requests = await (await ask('/api/oncebox/requests', { headers: { authorization } })).json()
    expect(requests).toEqual([expect.objectContaining({ name: 'asked', closed: false })])
    const { url_token } = await (await create({ payload: 'new' })).json()
    expect((await (await ask(`/api/v2/pushes/${url_token}`)).json()).payload).toBe('new')
  }

  async function readLogs(
    { ask }: Started,
    { shared, authorization }: { shared: Shared[]; authorization: string },
  ) {
    const logs = shared.slice(2, 4).map(async ({ token }) => {
      const answer = await ask(`/api/v2/pushes/${token}/audit`, { headers: { authorization } })
      return (await answer.json()).logs
    })
    return Promise.all(logs)
  }

  test('links, files, passphrases, tokens and logs survive a copy to PostgreSQL and a bucket, and back to a folder', async () => {
    const room = await newRoom(LARGE)
    const { folder, home, keyFile, address } = room
    const running = await stage.start({ dataDir: folder })
    expect((await copy(...toServer(room), '--files-url', bucket.url)).stderr).toContain(
      'is already served by',
    )
    await running.end()

    const done = await copy(...toServer(room), '--files-url', bucket.url)
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toMatch(
      /^Copied 1 account, 5 pushes, 1 file and \d+ log entries from \S+ to postgres:\S+\.\n$/,
    )
    expect((await stage.serve(folder)).stderr).toContain(
      `Everything here was copied to postgres://127.0.0.1:${server.port}/`,
    )
    expect((await runBinary(['user', 'list', '--data-dir', folder])).stderr).toContain(
      'Everything here was copied to',
    )
    const doctor = await runBinary(['doctor', '--data-dir', folder, '--port', '0', '--min-free-space', '0'])
    expect(doctor.stdout).toContain('Everything here was copied to postgres://')
    const second = await stage.start({ dataDir: join(home, 'node'), env: nodeOf(room, inBucket()) })
    await requireAll(second, room)
    const logs = await readLogs(second, room)
    const back = join(stage.folder(), 'back')
    const from = fromServer({ address, keyFile }, back)
    expect((await copy(...from)).stderr).toMatch(/Nodes serve the database.* Stop all of them/)
    await second.end()

    const returned = await copy(...from)
    expect(returned).toMatchObject({ code: 0 })
    const refused = await runBinary(['serve', '--port', '0', '--data-dir', join(home, 'node')], {
      env: nodeOf(room, inBucket()),
    })
    expect(refused.stderr).toContain(`Everything here was copied to ${back}`)
    const third = await stage.start({ dataDir: back, ...withKey(room) })
    expect(await readLogs(third, room)).toEqual(logs)
    await requireAll(third, room)
    await third.end()
  }, 600_000)

  test('files in a bucket stay where they are', async () => {
    const room = await newRoom()
    const [keyFile, dataDir] = [join(room.folder, 'instance.key'), join(stage.folder(), 'folder')]
    const env = { ...secrets, ...inBucket(), ONCEBOX_KEY_FILE: keyFile }
    const first = await stage.start({ dataDir, env })
    await first.command(['user', 'add', ANN, '--password-stdin'], `${PASSWORD}\n`)
    const authorization = `Bearer ${(await first.command(['token', 'create', ANN])).stdout.trim()}`
    const shared = await share(first, authorization)
    await first.end()
    const keys = bucket.listKeys()
    const there = ['--to', room.address, '--data-dir', dataDir, '--key-file', keyFile]
    expect((await copy(...there)).stderr).toContain('name it with --files-url')
    expect(await copy(...there, '--files-url', bucket.url)).toMatchObject({ code: 0 })
    expect(bucket.listKeys()).toEqual(keys)
    const second = await stage.start({
      dataDir: join(room.home, 'node'),
      env: { ...env, ...nodeOf({ ...room, keyFile }) },
    })
    await requireAll(second, { shared, authorization })
    await second.end()
  }, 600_000)

  /** Lets one statement of a copy hang, so that a test can kill the copy there. */
  async function hangAt({ address, database }: Room, trigger: string): Promise<() => Promise<void>> {
    const parsed = parseDatabaseAddress(address)
    if (parsed === null || 'problem' in parsed) throw new Error('no address')
    await migrate({
      connect: connectTo({ ...parsed, password: server.password }),
    })
    await database.sql
      .unsafe(`
      CREATE OR REPLACE FUNCTION oncebox.hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(600); RETURN NEW; END $$;
      CREATE ${trigger} EXECUTE FUNCTION oncebox.hang()`)
      .simple()
    return async () => void (await database.sql.unsafe('DROP TRIGGER hang ON oncebox.instance').simple())
  }

  const AT_UPDATE = 'TRIGGER hang BEFORE UPDATE ON oncebox.instance FOR EACH ROW'
  const AT_COMMIT =
    'CONSTRAINT TRIGGER hang AFTER UPDATE ON oncebox.instance DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'

  async function killWhileHanging({ database }: Room, flags: string[]): Promise<void> {
    const child = Bun.spawn([BINARY, ...copyArgs(...flags)], {
      env: { ...process.env, ...secrets },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const hangs = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = '${database.name}'`
    await waitUntil(async () => (await database.sql.unsafe(hangs)).length > 0)
    child.kill('SIGKILL')
    await child.exited
    await database.sql.unsafe(`SELECT pg_terminate_backend(pid) FROM (${hangs}) AS found`)
    await waitUntil(async () => (await database.sql.unsafe(hangs)).length === 0)
  }

  test('a copy killed before its commits changes neither end, and the same command completes it', async () => {
    const room = await newRoom()
    const flags = [...toServer(room), '--files-url', bucket.url]
    const goOn = await hangAt(room, AT_UPDATE)
    const before = bucket.listKeys()
    await killWhileHanging(room, flags)
    await goOn()
    const source = await stage.start({ dataDir: room.folder })
    await requireAll(source, room)
    await source.end()
    expect(await copy(...flags)).toMatchObject({ code: 0 })
    expect(bucket.listKeys()).toHaveLength(before.length + 1)
    const second = await stage.start({ dataDir: join(room.home, 'node'), env: nodeOf(room, inBucket()) })
    await requireAll(second, room)
    await second.end()
  }, 600_000)

  test('a copy killed between its two commits leaves a source that can only be copied to the same target', async () => {
    const room = await newRoom()
    const flags = [...toServer(room), '--files-url', bucket.url]
    const goOn = await hangAt(room, AT_COMMIT)
    await killWhileHanging(room, flags)
    await goOn()
    const refused = 'If it is empty, because the copy was killed, run the same "oncebox copy" again'
    expect((await stage.serve(room.folder)).stderr).toContain(refused)
    const other = await newRoom()
    const elsewhere = await copy(...toServer({ ...room, address: other.address }), '--files-url', bucket.url)
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining(refused)])
    expect(await copy(...flags)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Copied 1 account/),
    })
    const again = await copy(...flags)
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('everything was copied to it already. Serve it.'),
    ])
    const env = nodeOf(room, inBucket())
    const second = await stage.start({ dataDir: join(room.home, 'node'), env })
    await requireAll(second, room)
    await second.end()
  }, 600_000)

  test('a copy back that is killed leaves a database that can still be served, and the same command completes it', async () => {
    const room = await newRoom()
    expect(await copy(...toServer(room), '--files-url', bucket.url)).toMatchObject({ code: 0 })
    const back = join(stage.folder(), 'back')
    const flags = fromServer(room, back)
    const goOn = await hangAt(room, `${AT_UPDATE} WHEN (NEW.copy_state = 'left')`)
    await killWhileHanging(room, flags)
    await goOn()
    const node = await stage.start({ dataDir: join(room.home, 'node'), env: nodeOf(room, inBucket()) })
    await requireAll(node, room)
    await node.end()
    expect(await copy(...flags)).toMatchObject({ code: 0 })
    const third = await stage.start({ dataDir: back, ...withKey(room) })
    await requireAll(third, room)
    await third.end()
  }, 600_000)

  test('a target with data, a wrong key and a foreign folder are refused, and nothing is changed', async () => {
    const [room, other] = [await newRoom(), await newRoom()]
    const wrong = join(room.home, 'wrong.key')
    writeFileSync(wrong, newKeyFile(), { mode: 0o600 })
    const flags = [...toServer(room), '--files-url', bucket.url]
    expect((await copy(...flags, '--key-file', wrong)).stderr).toMatch(
      /The key file \S+ does not belong to this database: its key 1 has the fingerprint/,
    )
    expect(await copy(...toServer(other), '--files-url', bucket.url)).toMatchObject({ code: 0 })
    const full = await copy(...toServer({ ...room, address: other.address }), '--files-url', bucket.url)
    expect(full.stderr).toMatch(/^oncebox: postgres:\S+ is not empty: name an empty one\. \S+ is as it was/)
    const filled = stage.folder()
    writeFileSync(join(filled, 'letter.txt'), 'x')
    expect((await copy(...fromServer(other, filled))).stderr).toContain('letter.txt')
    expect((await copy(...fromServer(other, room.folder))).stderr).toContain('is not empty')
    const source = await stage.start({ dataDir: room.folder })
    await requireAll(source, room)
    await source.end()
    const node = await stage.start({ dataDir: join(other.home, 'node'), env: nodeOf(other, inBucket()) })
    expect((await copy(...toServer({ ...room, address: other.address }))).code).toBe(1)
    await requireAll(node, other)
    await node.end()
  }, 600_000)

  test('a file that is altered or missing at the source is named before anything is written', async () => {
    const room = await newRoom()
    const flags = [...toServer(room), '--files-url', bucket.url]
    const files = join(room.folder, 'files')
    const [name = ''] = readdirSync(files, { recursive: true })
      .map(String)
      .filter((path) => statSync(join(files, path)).isFile())
    truncateSync(join(files, name), 1000)
    expect((await copy(...flags)).stderr).toContain(
      `The file ${basename(name)} is missing, or not as long as it was`,
    )
    rmSync(join(files, name))
    const missing = await copy(...flags)
    expect(missing.stderr).toMatch(/or let its push end first \(20.* is as it was/)
    const source = await stage.start({ dataDir: room.folder })
    const [text] = room.shared
    expect((await (await source.retrieve(String(text?.token))).json()).payload).toBe('plain text')
    await source.end()
  }, 600_000)

  test('of two concurrent copies one is refused, and a hostile name of a target cannot break out of its line', async () => {
    const room = await newRoom()
    const flags = [...toServer(room), '--files-url', bucket.url]
    const both = await Promise.all([copy(...flags), copy(...flags)])
    expect(both.map(({ code }) => code).toSorted()).toEqual([0, expect.any(Number)])
    const back = (dataDir: string) => fromServer(room, dataDir)
    const [one, two] = [join(stage.folder(), 'one'), join(stage.folder(), "two\n\u001b[31m'; DROP")]
    const ended = await Promise.all([copy(...back(one)), copy(...back(two))])
    expect(ended.filter(({ code }) => code === 0)).toHaveLength(1)
    const winner = ended[0]?.code === 0 ? one : two
    const refused = await runBinary(['serve', '--port', '0', '--data-dir', join(room.home, 'node')], {
      env: nodeOf(room, inBucket()),
    })
    expect(refused.stderr).toContain('Everything here was copied to')
    expect(refused.stderr).not.toContain('\u001b')
    const third = await stage.start({ dataDir: winner, ...withKey(room) })
    await requireAll(third, room)
    await third.end()
  }, 600_000)

  needs('mount').test(
    'a full disk at the target aborts the copy, and the database can still be served',
    async () => {
      const room = await newRoom(LARGE)
      expect(await copy(...toServer(room), '--files-url', bucket.url)).toMatchObject({ code: 0 })
      const disk = mountSmallDisk('4m')
      try {
        const back = join(disk.path, 'back')
        const flags = fromServer(room, back)
        const full = await copy(...flags)
        expect([full.code, full.stderr]).toEqual([1, expect.stringMatching(/full.* is as it was/s)])
        expect(existsSync(join(back, 'oncebox.db'))).toBe(true)
        const node = await stage.start({ dataDir: join(room.home, 'node'), env: nodeOf(room, inBucket()) })
        await requireAll(node, room)
        await node.end()
      } finally {
        disk.remove()
      }
    },
    600_000,
  )
})
