// Files, expiry and purges of nodes on one database: where the files are, which node removes them, and that
// nothing happens twice.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/time.ts'
import type { OpenedStore } from '../../../src/store/opening/opened-store.ts'
import type { StoredPush } from '../../../src/store/pushes-contract.ts'
import type { BucketOptions } from '../../../src/store/s3/bucket.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { createTestClock } from '../../support/instance.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { makeNodeFolder, openTestNode } from '../../support/postgres-store.ts'
import { drain, storePush, VISIT, view } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'
import { patient, untilDone, waitUntil } from '../../support/waiting.ts'
import { readKinds } from '../conformance/engine.ts'

const postgres = usePostgres()
const SIZE = 5
const NAME = Buffer.from('name')

let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

let database: TestDatabase
let clock = createTestClock()
let folders: ReturnType<typeof makeNodeFolder>[] = []
let opened: OpenedStore[] = []
let prefix = 0
beforeEach(async () => {
  if (!postgres.isInstalled) return
  prefix += 1
  clock = createTestClock()
  database = await postgres.newEmptyDatabase()
})
afterEach(async () => {
  for (const store of opened) await store.close()
  for (const { remove } of folders) remove()
  ;[opened, folders] = [[], []]
  await database?.close()
})

type Node = {
  dataDir: string
  open(place?: 'disk' | BucketOptions): Promise<OpenedStore>
}

const ours = (): BucketOptions => ({
  ...bucket.settings,
  place: { ...bucket.settings.place, prefix: `test${prefix}/` },
})

/** Makes a node with its own folder and the key of the first node. */
function makeNode(name: string): Node {
  const folder = makeNodeFolder()
  const keyOf = ({ dataDir }: { dataDir: string }) => join(dataDir, '..', 'instance.key')
  const [first = folder] = folders
  writeFileSync(keyOf(folder), readFileSync(keyOf(first)))
  folders.push(folder)
  const open = async (place: 'disk' | BucketOptions = ours()) => {
    const settings = place === 'disk' ? null : place
    const options = { name, dataDir: folder.dataDir, connect: database.connect, clock, beatMs: 200 }
    const store = await openTestNode({ ...options, bucket: settings })
    opened.push(store)
    return store
  }
  return { dataDir: folder.dataDir, open }
}

async function close(store: OpenedStore): Promise<void> {
  opened = opened.filter((one) => one !== store)
  await store.close()
}

async function query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
  const sql = database.connect(1)
  try {
    return await sql.unsafe(text, values)
  } finally {
    await sql.close({ timeout: 0 })
  }
}

async function* sealed() {
  yield Buffer.alloc(sealedSize(SIZE), 3)
}

const fileOf = (id: string) => ({ fileId: id, size: SIZE, filename: NAME, contentType: NAME })

async function pushFile(store: OpenedStore, id: string, changes: Parameters<typeof storePush>[1] = {}) {
  await store.files.keepFile(id, sealed())
  return storePush({ store, clock }, changes, { files: [fileOf(id)] })
}

postgres.describe('files in one bucket', () => {
  test('are served and removed by every node, whichever node stored them', async () => {
    const [first, second] = [await makeNode('one').open(), await makeNode('two').open()]
    const push = await pushFile(first, 'aa1')
    expect(await second.files.has({ id: 'aa1', size: SIZE })).toBe(true)
    await second.pushes.expirePush({ id: push.id, visit: VISIT })
    await first.files.removeDue()
    await second.files.removeDue()
    expect(await first.files.has({ id: 'aa1', size: SIZE })).toBe(false)
  })

  test('are removed once each, however many nodes remove them at once', async () => {
    const nodes = [await makeNode('one').open(), await makeNode('two').open()]
    let round = 0
    // Retry with other files: on a busy machine, removing all of them may take longer than the timeout of a
    // change.
    await untilDone(async () => {
      round += 1
      const ids = Array.from({ length: 45 }, (_, n) => `file${round}n${n}`)
      await query('DELETE FROM files_due')
      await query('INSERT INTO files_due (id, at) SELECT unnest($1::text[]), 0', [ids])
      let removed = 0
      for (const one of await Promise.allSettled(nodes.map((store) => store.files.removeDue()))) {
        if (one.status === 'rejected') throw one.reason
        removed += one.value
      }
      // A node may have removed some in the background.
      expect(removed).toBeLessThanOrEqual(45)
      expect(await query('SELECT id FROM files_due')).toHaveLength(0)
    })
  }, 300_000)

  test('of an upload are removed with the next ones if giving it up failed with the database', async () => {
    const store = await makeNode('one').open()
    await store.files.keepFile('aa1', sealed())
    await query('ALTER TABLE files_due ADD CONSTRAINT refused CHECK (false) NOT VALID')
    await expect(store.files.giveUpFile('aa1')).rejects.toThrow('refused')
    await query('ALTER TABLE files_due DROP CONSTRAINT refused')
    expect(await store.files.removeDue()).toBe(1)
  })

  test('that a dead node had leased for removal are removed by another node after the lease', async () => {
    const store = await makeNode('one').open()
    await store.files.keepFile('aa1', sealed())
    // Imitates a node that leased the files and died.
    await query('UPDATE files_due SET at = $1, push_id = 0, node = NULL', [clock.now() + MINUTE])
    expect(await store.files.removeDue()).toBe(0)
    clock.advance(MINUTE)
    expect(await store.files.removeDue()).toBe(1)
    expect(
      bucket.listKeys().filter((key) => key.startsWith(`test${prefix}/`) && key.endsWith('aa1')),
    ).toEqual([])
  })

  test('an upload stays as long as its node is alive, whatever other nodes do', async () => {
    const [first, two] = [await makeNode('one').open(), makeNode('two')]
    await first.files.keepFile('aa1', sealed())
    await close(await two.open())
    const second = await two.open()
    expect(await second.files.removeDue()).toBe(0)
    const push = await storePush({ store: first, clock }, {}, { files: [fileOf('aa1')] })
    expect((await second.pushes.findSealedPush(push.lookup))?.sealed?.files).toHaveLength(1)
  })

  test('an upload of a dead node is removed, and no push can take it afterwards', async () => {
    const [first, second] = [await makeNode('one').open(), await makeNode('two').open()]
    await first.files.keepFile('aa1', sealed())
    await query("UPDATE files_due SET node = '\\x0102' WHERE id = 'aa1'")
    await waitUntil(async () => (await query('SELECT id FROM files_due WHERE at IS NOT NULL')).length === 1)
    const late = storePush({ store: first, clock }, {}, { files: [fileOf('aa1')] })
    await expect(late).rejects.toMatchObject({ code: 'overloaded' })
    expect(await second.files.removeDue()).toBe(1)
    expect(await first.files.has({ id: 'aa1', size: SIZE })).toBe(false)
    expect(await first.health.countPushes()).toEqual({ live: 0, expired: 0 })
  }, 300_000)

  test('are in the same folder of the bucket even if several nodes start for the first time at once', async () => {
    const nodes = await Promise.all(['one', 'two', 'three'].map((name) => makeNode(name).open()))
    const [first, , third] = nodes
    if (first === undefined || third === undefined) throw new Error('three nodes')
    await first.files.keepFile('aa1', sealed())
    expect(await third.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  }, 300_000)

  test('a node with another bucket is refused while a node serves, even before the first file', async () => {
    await makeNode('one').open()
    const place = { ...ours().place, prefix: 'elsewhere/' }
    const elsewhere = makeNode('two').open({ ...ours(), place })
    await expect(elsewhere).rejects.toThrow(/^The node one serves .* in the bucket .*the same --files-url/)
  }, 300_000)

  test('prevent a return to a former bucket while a node serves or files are needed', async () => {
    const place = { ...ours().place, prefix: `left${prefix}/` }
    const left = { ...ours(), place }
    const [one, two] = [makeNode('one'), makeNode('two')]
    await close(await one.open(left))
    const first = await one.open()
    await expect(two.open(left)).rejects.toThrow(
      /^The node one serves .* in the bucket .*the same --files-url/,
    )
    const push = await pushFile(first, 'aa1', { expireAfterViews: 1 })
    await close(first)
    await expect(two.open(left)).rejects.toThrow('lacks them')
    const again = await two.open()
    await view({ store: again }, push)
    await close(again)
    await expect(one.open(left)).rejects.toThrow('lacks them')
    clock.advance(HOUR)
    const last = await one.open()
    await last.files.removeDue()
    await close(last)
    await one.open(left)
  }, 300_000)

  test('are stored in a bucket that failed at the first start, even after the first node has stopped', async () => {
    const [first, second] = await openWithoutBucket()
    await close(first)
    await second.files.keepFile('aa1', sealed())
    expect(await second.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  }, 300_000)
})

/** Opens two nodes while the bucket fails. The bucket works again afterwards. */
async function openWithoutBucket(): Promise<[OpenedStore, OpenedStore]> {
  bucket.failWith(() => ({ status: 403, code: 'AccessDenied' }))
  const nodes: [OpenedStore, OpenedStore] = [await makeNode('one').open(), await makeNode('two').open()]
  bucket.failWith(() => null)
  return nodes
}

postgres.describe('files on a disk', () => {
  test('are served by one node, and a second one is refused with the remedy', async () => {
    const one = makeNode('one')
    await pushFile(await one.open('disk'), 'aa1')
    const two = makeNode('two')
    await expect(two.open('disk')).rejects.toThrow(
      /The node one serves .* on the disk of the node one.*--files-url/,
    )
    await expect(two.open()).rejects.toThrow(
      /The node one serves .* on the disk of the node one.*--files-url/,
    )
    for (const store of opened) await close(store)
    await expect(two.open('disk')).rejects.toThrow(
      /need their files in .* on the disk of the node one, .*: start without --files-url there/,
    )
    await expect(one.open()).rejects.toThrow(
      /need their files in .* on the disk of the node one, .*: start without --files-url there/,
    )
    const again = await one.open('disk')
    expect(await again.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  })

  test('a node that was killed finds its own folder again at once', async () => {
    const one = makeNode('one')
    await close(await one.open('disk'))
    // The state after kill -9.
    await query('UPDATE nodes SET seen_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint')
    const again = await one.open('disk')
    await pushFile(again, 'aa1')
    expect(existsSync(join(one.dataDir, 'files', 'aa', 'aa1'))).toBe(true)
  })

  test('a bucket replaces the disk once no push needs its files and they were removed', async () => {
    const one = makeNode('one')
    const store = await one.open('disk')
    await store.files.keepFile('aa1', sealed())
    await close(store)
    await expect(one.open()).rejects.toThrow('need their files in')
    const again = await one.open('disk')
    await again.files.removeDue()
    await close(again)
    const moved = await one.open()
    expect(existsSync(join(one.dataDir, 'files', 'aa', 'aa1'))).toBe(false)
    await pushFile(moved, 'aa2')
    await expect(makeNode('two').open('disk')).rejects.toThrow(
      /^The node one serves .* in the bucket .*the same --files-url/,
    )
  })
})

postgres.describe('nodes that expire and purge at once', () => {
  test('expire each push once, dated when it was due, and leave nothing of it', async () => {
    const nodes = [patient(await makeNode('one').open()), patient(await makeNode('two').open())] as const
    const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 1, limits: { pushes: 0, bytes: 0 } }
    // Create a few at a time: a create that waits for too long would be in doubt.
    const pushes: StoredPush[] = []
    for (let first = 0; first < 300; first += 20)
      pushes.push(
        ...(await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            storePush({ store: nodes[n % 2] ?? nodes[0], clock }, {}, n % 3 === 0 ? { share } : {}),
          ),
        )),
      )
    const withFile = await pushFile(nodes[0], 'aa1')
    clock.advance(2 * DAY)
    // Views and deletions race with the expiry.
    const [counts] = await Promise.all([
      Promise.all([...nodes, ...nodes].map((store) => store.expiry.expireLapsed())),
      ...pushes.slice(0, 40).map((push, n) => view({ store: nodes[n % 2] ?? nodes[0] }, push)),
    ])
    const rest = await Promise.all(nodes.map((store) => drain(store.expiry.expireLapsed)))
    expect([...counts, ...rest].reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(301)
    expect(await nodes[0].health.countPushes()).toEqual({ live: 0, expired: 301 })
    for (const table of ['push_secrets', 'live_shares', 'push_files'])
      expect(await query(`SELECT * FROM ${table}`)).toHaveLength(0)
    expect(await query('SELECT pushes, bytes FROM address_shares')).toEqual([])
    expect(await query('SELECT id FROM pushes WHERE expired_on <> expires_at')).toHaveLength(0)
    expect(await readKinds({ store: nodes[1] }, withFile.id)).toEqual(['creation'])
    const purge = (store: OpenedStore) =>
      drain(() => store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() }))
    const purged = await Promise.all([...nodes, ...nodes].map(purge))
    expect(purged.reduce((sum, n) => sum + n, 0)).toBe(301)
    for (const table of ['pushes', 'audit_entries']) expect(await query(`SELECT * FROM ${table}`)).toEqual([])
  }, 300_000)

  test('destroy nothing while the clock is in doubt, but list its pushes as expired', async () => {
    const one = makeNode('one')
    const before = await one.open()
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    const { id: ownerId } = await before.accounts.addAccount(account)
    const labels = { urlToken: NAME, name: null, note: null, request: null }
    const push = await storePush({ store: before, clock }, { ownerId }, { labels })
    await close(before)
    clock.advance(300 * DAY)
    const store = await one.open()
    expect(store.clock.doubt()).not.toBeNull()
    expect(await store.expiry.expireLapsed()).toBe(0)
    await store.expiry.expireLapsedOf(ownerId)
    expect((await store.pushes.findSealedPush(push.lookup))?.sealed).toBeNull()
    expect(await query('SELECT * FROM push_secrets')).toHaveLength(1)
    expect(await store.lists.countOwned(ownerId)).toEqual({ active: 0, new: 0, expired: 1 })
    const page = await store.lists.listPushes({ ownerId, expired: true, pageNumber: 1 })
    expect(page.map((listed) => listed.push.id)).toEqual([push.id])
    await store.clock.accept()
    expect(await drain(store.expiry.expireLapsed)).toBe(1)
    expect(await query('SELECT * FROM push_secrets')).toHaveLength(0)
  })

  test('purge a log that is too long for one step with its push', async () => {
    const store = await makeNode('one').open()
    const { id } = await storePush({ store, clock }, { expireAfterViews: 5 })
    await store.pushes.expirePush({ id, visit: VISIT })
    await query(
      `INSERT INTO audit_entries (id, push_id, previous, kind, at, ip, user_agent, referrer)
       SELECT n, $1, CASE WHEN n = 10 THEN last_entry ELSE n - 1 END, 'view', 0, '', '', ''
       FROM push_state, generate_series(10, 12000) AS n WHERE push_state.push_id = $1`,
      [id],
    )
    await query('UPDATE push_state SET last_entry = 12000 WHERE push_id = $1', [id])
    const until = clock.now()
    expect(await store.expiry.purgeExpired({ of: 'anonymous', until })).toBe(1)
    expect(await query('SELECT * FROM audit_entries')).toEqual([])
  })
})
