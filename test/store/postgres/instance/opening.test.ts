// How a node enters a database: with its key, its clock and its memory. A database that was set back is never served.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import { openAfterRestore } from '../../../../src/store/opening/after-restore.ts'
import type { OpenedStore } from '../../../../src/store/opening/opened-store.ts'
import type { PostgresStoreOptions } from '../../../../src/store/opening/postgres-store.ts'
import type { Connect, OpenPool } from '../../../../src/store/postgres/engine/connection.ts'
import { createServers } from '../../../../src/store/postgres/engine/servers.ts'
import { createBucketWitness } from '../../../../src/store/witness/bucket-witness.ts'
import type { SavedWitness } from '../../../../src/store/witness/saved-witness.ts'
import { openTestBucket, type TestBucket } from '../../../support/bucket.ts'
import { createTestClock } from '../../../support/instance.ts'
import { connectTo, type TestDatabase } from '../../../support/postgres.ts'
import { makeNodeFolder, openTestNode } from '../../../support/postgres-store.ts'
import { storePush } from '../../../support/store.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'
import { readKinds } from '../../conformance/engine.ts'

const postgres = usePostgres()
/** Several nodes need one. */
let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

/** Nodes that start at once wait until the first of them has marked the bucket. */
const BUCKET_MARK_MS = 120_000
const DAY = 24 * 60 * 60 * 1000
const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }

let database: TestDatabase
let folders: ReturnType<typeof makeNodeFolder>[] = []
let clock = createTestClock()
let serving = new Set<OpenedStore>()
beforeEach(async () => {
  if (!postgres.isInstalled) return
  for (const { remove } of folders) remove()
  folders = []
  clock = createTestClock()
  database = await postgres.newEmptyDatabase()
})
// Those of a test that failed would go on in folders of which nothing is left.
afterEach(async () => {
  for (const store of serving) await store.close()
  serving = new Set()
})

/** A node with a folder of its own and the key of the first. */
function makeNode() {
  const folder = makeNodeFolder()
  const keyFile = join(folder.dataDir, '..', 'instance.key')
  const [first] = folders
  if (first !== undefined) writeFileSync(keyFile, readFileSync(join(first.dataDir, '..', 'instance.key')))
  folders.push(folder)
  const warnings: string[] = []
  const onWarning = (text: string) => warnings.push(text)
  const open = async (options: Partial<PostgresStoreOptions> = {}) => {
    const store = await openTestNode({
      bucket: bucket.settings,
      ...{ dataDir: folder.dataDir, connect: database.connect, clock, onWarning, patience: 0, beatMs: 200 },
      ...options,
    })
    serving.add(store)
    const close = async () => {
      serving.delete(store)
      await store.close()
    }
    return { ...store, close }
  }
  return { ...folder, keyFile, warnings, open, witness: join(folder.dataDir, 'serve.witness') }
}

const cutConnections = () =>
  query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
  )

async function query<Row>(text: string): Promise<Row[]> {
  const sql = database.connect(1)
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.close({ timeout: 0 })
  }
}

postgres.describe('the key of a database', () => {
  test('is made once for an empty database, closed to others, and never again', async () => {
    const node = makeNode()
    rmSync(node.keyFile)
    const store = await node.open()
    await store.close()
    expect(statSync(node.keyFile).mode & 0o777).toBe(0o600)
    rmSync(node.keyFile)
    await expect(node.open()).rejects.toThrow(/was written with key 1 \(\w{4}-\w{4}-\w{4}-\w{4}\)/)
    expect(existsSync(node.keyFile)).toBe(false)
  })

  test('is compared with the file of each node that starts', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const store = await first.open()
    writeFileSync(second.keyFile, newKeyFile())
    await expect(second.open()).rejects.toThrow(
      'does not belong to this database: its key 1 has the fingerprint',
    )
    await store.close()
  })

  test('may go once nothing is sealed under it, and not while another node runs', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const line = newKeyFile().split('\n').at(-2)?.replace(/^1/, '2')
    const old = readFileSync(first.keyFile, 'utf8')
    writeFileSync(first.keyFile, `${line}\n${old}`)
    writeFileSync(second.keyFile, `${line}\n`)
    const store = await first.open()
    await expect(second.open()).rejects.toThrow('Key 1 is missing from the key file')
    await store.close()
    await (await second.open()).close()
  })
})

postgres.describe('nodes', () => {
  test('are listed while they serve, and gone once they have stopped', async () => {
    const [first, second] = [await makeNode().open({ name: 'one' }), await makeNode().open({ name: 'two' })]
    const list = async () =>
      (await first.database?.listNodes())?.map(({ name, isThis, isAlive }) => ({ name, isThis, isAlive }))
    expect(await list()).toEqual([
      { name: 'one', isThis: true, isAlive: true },
      { name: 'two', isThis: false, isAlive: true },
    ])
    await second.close()
    expect(await list()).toEqual([{ name: 'one', isThis: true, isAlive: true }])
    await first.close()
    expect(await query('SELECT 1 FROM nodes')).toEqual([])
  })

  test('start at once on an empty database, and one of them makes the tables', async () => {
    const nodes = [makeNode(), makeNode(), makeNode()]
    const stores = await Promise.all(nodes.map((node) => node.open({ patience: BUCKET_MARK_MS })))
    expect(await stores[0]?.database?.listNodes()).toHaveLength(3)
    const pushes = await Promise.all(stores.map((store) => untilDone(() => storePush({ store, clock }))))
    expect(new Set(pushes.map(({ id }) => id)).size).toBe(3)
    await Promise.all(stores.map((store) => store.close()))
    expect(await query('SELECT 1 FROM nodes')).toEqual([])
  })

  test('that start at once with different keys are not both served', async () => {
    const [first, second] = [makeNode(), makeNode()]
    writeFileSync(second.keyFile, newKeyFile())
    const tries = await Promise.allSettled(
      [first, second].map((node) => node.open({ patience: BUCKET_MARK_MS })),
    )
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const tried of tries) if (tried.status === 'fulfilled') await tried.value.close()
  })

  test('are forgotten when the folder of one that was killed is served again', async () => {
    const node = makeNode()
    const store = await node.open()
    const killed = {
      witness: readFileSync(node.witness),
      rows: await query<{ id: Buffer }>('SELECT * FROM nodes'),
    }
    await store.close()
    writeFileSync(node.witness, killed.witness)
    await query(
      "INSERT INTO nodes SELECT decode('" +
        killed.rows[0]?.id.toString('hex') +
        "', 'hex'), 'test', '0', 0, 8e12",
    )
    const again = await node.open()
    expect((await again.database?.listNodes())?.map(({ isThis }) => isThis)).toEqual([true])
    await again.close()
    expect(JSON.parse(readFileSync(node.witness, 'utf8')).isFinal).toBe(true)
  })
})

postgres.describe('a database that was set back', () => {
  /** The rows of now, as a dump keeps them. */
  const keep = () => query('CREATE TABLE public.kept AS SELECT * FROM instance')
  const setBack = () =>
    query(
      'UPDATE instance SET beats = (SELECT beats FROM public.kept), place = (SELECT place FROM public.kept)',
    )

  test('is not served by a node whose folder remembers more', async () => {
    const node = makeNode()
    const store = await node.open()
    await keep()
    await store.close()
    await setBack()
    await expect(node.open()).rejects.toThrow(/is at an earlier state: its counter is 1, and was 2 already/)
  })

  test('is not served from another place, unless the last node knows that nothing is missing', async () => {
    const [first, second] = [makeNode(), makeNode()]
    await (await first.open()).close()
    await query("UPDATE instance SET place = 'elsewhere'")
    for (const key of bucket.listKeys()) if (key.includes('_witness')) bucket.remove(key)
    await expect(second.open()).rejects.toThrow('at another place than where it was last served')
    await (await first.open()).close()
    await (await second.open()).close()
  })

  test('is served by a node that starts once a node that runs says that nothing is missing', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const one = await first.open({ beatMs: 1000 })
    const starting = second.open({ patience: BUCKET_MARK_MS })
    // The first node may say so before the second one looks.
    await waitUntil(async () => {
      await query("UPDATE instance SET place = 'elsewhere'")
      return second.warnings.some((warning) => warning.includes('Waiting for a node that knows.'))
    })
    await (await starting).close()
    await one.close()
  })

  test('is not served by a new node, because the bucket remembers more', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const store = await first.open()
    await keep()
    await store.close()
    await setBack()
    await expect(second.open()).rejects.toThrow(/its counter is \d+, and was \d+ already/)
  })

  test('is served from another place by a new node when the bucket knows that nothing is missing', async () => {
    await (await makeNode().open()).close()
    await query("UPDATE instance SET place = 'elsewhere'")
    await (await makeNode().open()).close()
  })

  test('is passed over by a running node as soon as another server of the address has the right one', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const copy = await postgres.copyDatabase(database, 'copy_on_another_server')
    const nowhere = connectTo('postgres://nobody@127.0.0.1:1/nothing')
    let isDown = false
    const right: OpenPool = (max, onClose) => (isDown ? nowhere : database.connect)(max, onClose)
    const address = parseDatabaseAddress('postgres://nobody@nowhere/nothing')
    if (address === null || 'problem' in address) throw new Error('no address')
    const used: string[] = []
    const servers = createServers(
      [
        { name: 'right', address, open: right },
        { name: 'copy', address, open: copy },
      ],
      ({ name }) => used.push(name),
    )
    const open: OpenPool = (max, onClose) => servers.current().open(max, onClose)
    const store = await node.open({ connect: Object.assign(open, { servers }) })
    await untilDone(() => store.accounts.addAccount(account))
    isDown = true
    await cutConnections()
    while (store.database?.findRefusal() === null) await store.lists.countPushes().catch(() => undefined)
    expect(store.database?.findRefusal()).toContain('The database is at an earlier state')
    await expect(store.accounts.listAccounts()).rejects.toMatchObject({ code: 'overloaded' })
    isDown = false
    while (store.database?.findRefusal() !== null) await Bun.sleep(20)
    expect(await store.accounts.listAccounts()).toHaveLength(1)
    expect(used).toEqual(['right', 'copy', 'right'])
    await store.close()
  }, 300_000)

  test('is not served while the server does not write to its disk, and again afterwards', async () => {
    const node = makeNode()
    const store = await node.open()
    const admin = connectTo(database.address.replace(/\/\/[^:]+:/, '//postgres:'))(1)
    const isServed = () =>
      store.lists.countPushes().then(
        () => true,
        () => false,
      )
    try {
      await admin.unsafe('ALTER SYSTEM SET fsync = off')
      await admin.unsafe('SELECT pg_reload_conf()')
      while (await isServed()) await Bun.sleep(50)
    } finally {
      await admin.unsafe('ALTER SYSTEM RESET fsync')
      await admin.unsafe('SELECT pg_reload_conf()')
      await admin.close({ timeout: 0 })
    }
    while (!(await isServed())) await Bun.sleep(50)
    await store.close()
  }, 300_000)

  test('is not served any more by a running node that notices when it connects again', async () => {
    const node = makeNode()
    const store = await node.open()
    await untilDone(() => store.accounts.addAccount(account))
    await query('DELETE FROM operations')
    while (store.database?.findRefusal() === null) await store.accounts.listAccounts().catch(() => undefined)
    await expect(store.accounts.listAccounts()).rejects.toMatchObject({ code: 'overloaded' })
    expect(store.database?.findRefusal()).toContain('a change that it had acknowledged is missing')
    expect(node.warnings.at(-1)).toContain('run "oncebox after-restore"')
    await store.close()
  })
})

postgres.describe('a server whose standby is missing', () => {
  test('is not entered while nothing can be committed there, and as soon as something can', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const admin = connectTo(database.address.replace(/\/\/[^:]+:/, '//postgres:'))(1)
    const setStandby = async (change: string) => {
      await admin.unsafe(`ALTER SYSTEM ${change}`)
      await admin.unsafe('SELECT pg_reload_conf()')
    }
    await setStandby("SET synchronous_standby_names = 'missing'")
    try {
      const opening = node.open({ patience: 120_000 })
      while (!/commits nothing.*Waiting for that/.test(node.warnings.at(-1) ?? '')) await Bun.sleep(50)
      await setStandby('RESET synchronous_standby_names')
      await (await opening).close()
    } finally {
      await setStandby('RESET synchronous_standby_names')
      await admin.close({ timeout: 0 })
    }
  }, 180_000)
})

postgres.describe('a server that a failover left behind', () => {
  /** What a node would remember that served the database after the failover. */
  const overtake = (witness: SavedWitness): SavedWitness => ({
    ...witness,
    place: `${witness.place?.slice(0, -8)}0000000F`,
  })
  const later =
    /is on timeline \d+ of its server, and was served on timeline 15 already: a failover left this/

  test('is not served by a node whose folder knows of it, and no node goes on there', async () => {
    const [first, second] = [makeNode(), makeNode()]
    await (await first.open()).close()
    const store = await second.open()
    const witness = overtake(JSON.parse(readFileSync(first.witness, 'utf8')))
    writeFileSync(first.witness, JSON.stringify({ ...witness, beats: 0 }))
    await expect(first.open()).rejects.toThrow(later)
    while (store.database?.findRefusal() === null) await Bun.sleep(20)
    expect(store.database?.findRefusal()).toMatch(later)
    await store.close()
  }, 60_000)

  test('is not served by a new node, because the bucket knows of it', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const { write } = createBucketWitness(bucket.settings)
    await write(overtake(JSON.parse(readFileSync(node.witness, 'utf8'))))
    await expect(makeNode().open()).rejects.toThrow(later)
  })

  test('is left by nodes that run once the bucket knows of it, and the bucket is not told of it again', async () => {
    const node = makeNode()
    const store = await node.open({ bucketMs: 100 })
    const { write, read } = createBucketWitness(bucket.settings)
    const witness = { ...overtake(JSON.parse(readFileSync(node.witness, 'utf8'))), beats: 0 }
    await write(witness)
    while (store.database?.findRefusal() === null) await Bun.sleep(20)
    expect(store.database?.findRefusal()).toMatch(later)
    await store.close()
    expect(await read(witness.tag)).toEqual(witness)
  }, 60_000)
})

postgres.describe('a copy of a database', () => {
  const restore = (connect: Connect, dataDir: string, places: string[] = [], writtenEvery = 20_000) =>
    openAfterRestore({
      ...{ connect, dataDir, bucket: bucket.settings, onWarning: () => undefined },
      onWait: (place) => places.push(place),
      writtenEvery: { bucket: writtenEvery, folder: writtenEvery },
    })

  test('is not made to serve the bucket of the original while that is served', async () => {
    const [original, other] = [makeNode(), makeNode()]
    const before = await original.open()
    const { lookup } = await storePush({ store: before, clock })
    await before.close()
    const copy = await postgres.copyDatabase(database, 'copy_beside')
    const store = await original.open({ bucketMs: 500 })
    const places: string[] = []
    await expect(restore(copy, other.dataDir, places)).rejects.toThrow(
      /Another database is served with the files in the bucket .*prefix of its own.*stop all nodes/,
    )
    expect(places[0]).toContain('the bucket oncebox-test')
    await expect(restore(copy, original.dataDir)).rejects.toThrow('uses the data folder')
    // Its own nodes may run.
    const own = await restore(database.connect, original.dataDir, [], 1_000)
    expect(own.livePushes).toBe(1)
    await own.close()
    expect(await store.pushes.findPush(lookup)).toMatchObject({ expiredOn: null })
    await store.close()
    const restoring = await restore(copy, other.dataDir)
    const visit = { ip: '', userAgent: 'test', referrer: '' }
    expect(await restoring.run({ visit, now: clock.now(), onProgress: () => undefined })).toBe(1)
    await restoring.close()
  }, 300_000)
})

postgres.describe('after a restore', () => {
  const visit = { ip: '', userAgent: 'test', referrer: '' }
  const settle = async (node: ReturnType<typeof makeNode>) => {
    const { connect } = database
    const restoring = await openAfterRestore({
      connect,
      bucket: bucket.settings,
      dataDir: node.dataDir,
      onWarning: () => undefined,
      writtenEvery: { bucket: 0, folder: 0 },
    })
    const progress: number[] = []
    const lost = await restoring.run({ visit, now: clock.now(), onProgress: (done) => progress.push(done) })
    await restoring.close()
    return { lost, live: restoring.livePushes, halted: restoring.halted, progress }
  }

  test('every push has expired, and every session ended, before a node serves again', async () => {
    const node = makeNode()
    const store = await node.open()
    const { id } = await untilDone(() => store.accounts.addAccount(account))
    await store.sessions.addSession({ accountId: id, hash: Buffer.alloc(32, 7), visit, tested: 'x' })
    const [kept, read] = [await storePush({ store, clock }), await storePush({ store, clock })]
    await store.pushes.expirePush({ id: read.id, visit })
    await store.close()
    await query('UPDATE instance SET beats = 0')
    await expect(node.open()).rejects.toThrow('oncebox after-restore')
    expect(await settle(node)).toMatchObject({ lost: 1, live: 1, progress: [1] })
    const again = await node.open()
    const found = await again.pushes.findSealedPush(kept.lookup)
    expect(found).toMatchObject({ push: { lost: true, deleted: false }, sealed: null })
    expect(await readKinds({ store: again }, kept.id)).toEqual(['creation', 'expire'])
    expect(await query('SELECT 1 FROM push_secrets')).toEqual([])
    expect(await again.sessions.findByHash(Buffer.alloc(32, 7))).toBeNull()
    expect(await again.accounts.listAccounts()).toHaveLength(1)
    await again.close()
  })

  test('a running node serves again by itself, and what it remembers does not count', async () => {
    const node = makeNode()
    const store = await node.open()
    await storePush({ store, clock })
    await query('DELETE FROM operations')
    await query('UPDATE instance SET beats = 0')
    await cutConnections()
    while (store.database?.findRefusal() === null) await store.lists.countPushes().catch(() => undefined)
    await settle(node)
    while (store.database?.findRefusal() !== null) await Bun.sleep(100)
    expect(await store.lists.countPushes()).toEqual({ live: 0, expired: 1 })
    expect(node.warnings.at(-1)).toBe('The database is served again.')
    await store.close()
    await (await node.open()).close()
  }, 300_000)

  test('nodes that have not noticed anything stop when another one has', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const [one, two] = [await first.open(), await second.open()]
    await untilDone(() => two.accounts.addAccount(account))
    await query('DELETE FROM operations')
    await cutConnections()
    while (one.database?.findRefusal() === null || two.database?.findRefusal() === null) {
      await two.accounts.listAccounts().catch(() => undefined)
      await Bun.sleep(50)
    }
    await expect(one.accounts.listAccounts()).rejects.toMatchObject({ code: 'overloaded' })
    await one.close()
    await two.close()
    await expect(makeNode().open()).rejects.toThrow('a change that it had acknowledged is missing')
  }, 300_000)
})

postgres.describe('a data folder', () => {
  test('belongs to one database', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const { database: other } = { database: await postgres.newEmptyDatabase() }
    await expect(node.open({ connect: other.connect })).rejects.toThrow('holds no Oncebox data, though')
    const stranger = await postgres.newDatabase()
    await expect(node.open({ connect: stranger.connect })).rejects.toThrow('served another database')
  })

  test('that holds a database of its own, or other files, is refused', async () => {
    const node = makeNode()
    await Bun.write(join(node.dataDir, 'oncebox.db'), 'rows')
    await expect(node.open()).rejects.toThrow('holds a database of its own')
    const other = makeNode()
    await Bun.write(join(other.dataDir, 'letter.txt'), 'Dear Ann')
    await expect(other.open()).rejects.toThrow('letter.txt')
  })
})

postgres.describe('the clock', () => {
  test('is that of the database, whatever the clocks of the nodes say', async () => {
    const store = await makeNode().open({ systemNow: null })
    const [row] = await query<{ time: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time',
    )
    expect(Math.abs(store.now() - (row?.time ?? 0))).toBeLessThan(60_000)
    expect(Number.isInteger(store.now())).toBe(true)
    await store.close()
  })

  test('never goes back behind what another node wrote down', async () => {
    const first = await makeNode().open()
    clock.advance(90_000)
    const second = await makeNode().open()
    await second.close()
    clock.set(clock.now() - 90_000)
    const third = await makeNode().open()
    expect(third.now()).toBe(clock.now() + 90_000)
    await third.close()
    await first.close()
  })

  test('is refused when it is more than a day behind the last use, unless it is accepted', async () => {
    const node = makeNode()
    await (await node.open()).close()
    clock.set(clock.now() - 2 * DAY)
    await expect(node.open()).rejects.toThrow('The clock of the database server says')
    const store = await node.open({ acceptClock: true })
    expect(store.now()).toBe(clock.now())
    await store.close()
    await (await node.open()).close()
  })

  test('that jumped ahead is doubted after a restart too, until one node is told that it is right', async () => {
    const node = makeNode()
    await (await node.open()).close()
    clock.set(clock.now() + 30 * DAY)
    const store = await node.open()
    expect(store.clock.doubt()).not.toBeNull()
    expect(store.certain()).toBeLessThan(store.now() - 20 * DAY)
    await store.clock.accept()
    expect(store.clock.doubt()).toBeNull()
    await store.close()
    const again = await node.open()
    expect(again.clock.doubt()).toBeNull()
    await again.close()
  })

  test('that was ahead is set right for all nodes by one, and pushes of that time live no longer for it', async () => {
    const [one, two] = [await makeNode().open(), await makeNode().open()]
    const before = clock.now()
    clock.set(before + 30 * DAY)
    expect([one.clock.doubt(), two.clock.doubt()]).not.toContain(null)
    const made = await storePush({ store: one, clock })
    clock.set(before + 1000)
    while (one.clock.doubt() !== null || two.clock.doubt() !== null) await Bun.sleep(20)
    const find = async () => (await two.pushes.findPush(made.lookup))?.expiresAt ?? 0
    while ((await find()) > before + 2 * DAY) await Bun.sleep(20)
    expect(await find()).toBe(made.expiresAt - 30 * DAY + 1000)
    clock.set(before + 60 * DAY)
    expect([one.clock.doubt(), two.clock.doubt()]).not.toContain(null)
    await one.clock.accept()
    while (two.clock.doubt() !== null) await Bun.sleep(20)
    expect(two.now()).toBe(clock.now())
    await one.close()
    await two.close()
  })
})

postgres.describe('tables of a newer program', () => {
  const migrate = (compatibleFrom: number) =>
    query(`INSERT INTO schema_versions (version, compatible_from) VALUES (99, ${compatibleFrom})`)

  test('are served by nodes that run and by those that start, where they are compatible', async () => {
    const node = makeNode()
    const store = await node.open()
    await migrate(1)
    await store.close()
    const again = await node.open()
    expect(await again.lists.countPushes()).toEqual({ live: 0, expired: 0 })
    await again.close()
  })

  test('end the serving of a node that runs, and refuse one that starts, where they are not', async () => {
    const node = makeNode()
    const store = await node.open()
    await migrate(99)
    while (store.database?.findRefusal() === null) await Bun.sleep(20)
    expect(store.database?.findRefusal()).toContain('was migrated by a newer Oncebox')
    await expect(store.lists.countPushes()).rejects.toMatchObject({ code: 'overloaded' })
    await store.close()
    await expect(node.open()).rejects.toThrow('Run that one.')
    expect(await query('SELECT halted FROM instance')).toEqual([{ halted: null }])
  })
})
