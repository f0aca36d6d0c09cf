// What `oncebox after-restore` does to a database, so that nodes may serve it again, and when it refuses.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { visitFrom } from '../../../../src/domain/audit.ts'
import { openAfterRestore } from '../../../../src/store/opening/after-restore.ts'
import type { Connect } from '../../../../src/store/postgres/engine/connection.ts'
import { storePush } from '../../../support/store.ts'
import { type TestNode, useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'
import { readKinds } from '../../conformance/engine.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query, cutConnections } = nodes
const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }

postgres.describe('a copy of a database', () => {
  const restore = (connect: Connect, dataDir: string, places: string[] = [], writtenEvery = 20_000) =>
    openAfterRestore({
      ...{ connect, dataDir, bucket: nodes.watchedBucket(), onWarning: () => undefined },
      onWait: (place) => places.push(place),
      writtenEvery: { bucket: writtenEvery, folder: writtenEvery },
    })

  test('is not made to serve the bucket of the original while that is served', async () => {
    const [original, other] = [makeNode(), makeNode()]
    const before = await original.open()
    const { lookup } = await storePush({ store: before, clock: nodes.clock })
    await before.close()
    const copy = await postgres.copyDatabase(nodes.database, 'copy_beside')
    const store = await original.open({ bucketMs: 500 })
    const places: string[] = []
    await expect(restore(copy, other.dataDir, places)).rejects.toThrow(
      /Another database is served with the files in the bucket .*prefix of its own.*stop all nodes/,
    )
    expect(places[0]).toContain('the bucket oncebox-test')
    await expect(restore(copy, original.dataDir)).rejects.toThrow('uses the data folder')
    // Its own nodes may run.
    const own = await restore(nodes.database.connect, original.dataDir, [], 1_000)
    expect(own.livePushes).toBe(1)
    await own.close()
    expect(await store.pushes.findPush(lookup)).toMatchObject({ expiredOn: null })
    await store.close()
    const restoring = await restore(copy, other.dataDir)
    const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
    expect(await restoring.run({ visit, now: nodes.clock.now(), onProgress: () => undefined })).toBe(1)
    await restoring.close()
  }, 300_000)
})

postgres.describe('a copy of a database whose nodes ran', () => {
  const openCopy = async (name: string) => {
    const connect = await postgres.copyDatabase(nodes.database, name)
    const sql = connect(1)
    const rows = async () => (await sql.unsafe('SELECT id FROM oncebox.nodes')).length
    return { connect, rows, close: () => sql.close() }
  }
  const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
  const restore = async (options: Parameters<typeof openAfterRestore>[0]) => {
    const restoring = await openAfterRestore(options)
    await restoring.run({ visit, now: nodes.clock.now(), onProgress: () => undefined })
    await restoring.close()
  }

  test('is served at once with a prefix of its own: rows of nodes that do not serve it are removed', async () => {
    const store = await makeNode().open()
    const copy = await openCopy('copy_of_running')
    expect(await copy.rows()).toBe(1)
    const { place } = nodes.bucket.settings
    const own = { ...nodes.bucket.settings, place: { ...place, prefix: `${place.prefix}own/` } }
    const node = makeNode()
    const waits: string[] = []
    await restore({
      ...{ connect: copy.connect, dataDir: node.dataDir, bucket: { ...own, keyFile: node.keyFile } },
      ...{ onWarning: () => undefined, onWait: (place) => waits.push(place) },
      writtenEvery: { bucket: 500, folder: 500 },
    })
    expect([await copy.rows(), waits[0]]).toEqual([0, 'this database'])
    const served = await node.open({ connect: copy.connect, bucket: own })
    expect(node.warnings.join()).not.toContain('bucket')
    for (const one of [served, store]) await one.close()
    await copy.close()
  }, 300_000)

  test('keeps the rows of nodes that serve it', async () => {
    const node = makeNode()
    const store = await node.open()
    const [before] = await query<{ id: Buffer }>('SELECT id FROM nodes')
    const { connect } = nodes.database
    await restore({
      ...{ connect, dataDir: node.dataDir, bucket: null, onWarning: () => undefined },
      writtenEvery: { bucket: 60_000, folder: 60_000 },
    })
    expect(await query('SELECT id FROM nodes')).toEqual([{ id: before?.id }])
    await store.close()
  }, 300_000)

  test('removes files from the bucket of the original at once, which nobody else uses any more', async () => {
    const store = await makeNode().open()
    await store.close()
    const copy = await openCopy('copy_for_good')
    const node = makeNode()
    const bucket = nodes.watchedBucket()
    await restore({
      ...{ connect: copy.connect, dataDir: node.dataDir, bucket, onWarning: () => undefined },
      writtenEvery: { bucket: 500, folder: 500 },
    })
    const served = await node.open({ connect: copy.connect })
    expect(node.warnings.join()).not.toContain('another copy of this database')
    expect(served.bucket?.isShared()).toBe(false)
    await served.close()
    await copy.close()
  }, 300_000)
})

postgres.describe('a node that starts', () => {
  const isWitness = (key: string) => key.includes('_witness')

  test('has told the bucket that it lives before it serves anything, however slow that is', async () => {
    const node = makeNode()
    await (await node.open()).close()
    let refused = 0
    nodes.bucket.failWith(({ method, key }) => {
      if (method !== 'PUT' || !isWitness(key) || refused === 2) return null
      refused += 1
      return { status: 503, code: 'SlowDown' }
    })
    const store = await node.open({ beatMs: 3_600_000 })
    const { tag, node: id } = JSON.parse(readFileSync(node.witness, 'utf8'))
    const read = async () => (await nodes.bucketWitness().look(tag))?.witness
    expect([refused, await read()]).toMatchObject([2, { isFinal: false, node: id }])
    nodes.bucket.failWith(() => null)
    await store.close()
    expect(await read()).toMatchObject({ isFinal: true })
  })

  test('tells a bucket that failed then with the next heartbeat that it can', async () => {
    const node = makeNode()
    await (await node.open()).close()
    nodes.bucket.failWith(({ method, key }) =>
      method === 'PUT' && isWitness(key) ? { status: 403, code: 'AccessDenied' } : null,
    )
    const store = await node.open()
    const { tag } = JSON.parse(readFileSync(node.witness, 'utf8'))
    const read = async () => (await nodes.bucketWitness().look(tag))?.witness
    expect(await read()).toMatchObject({ isFinal: true })
    nodes.bucket.failWith(() => null)
    await waitUntil(async () => (await read())?.isFinal === false)
    await store.close()
  })

  test('while everything expires in a copy is noticed before the copy is served', async () => {
    const node = makeNode()
    const store = await node.open()
    await storePush({ store, clock: nodes.clock })
    await store.close()
    const { connect } = nodes.database
    const places = { connect, dataDir: makeNode().dataDir, bucket: nodes.watchedBucket() }
    const restoring = await openAfterRestore({ ...places, onWarning: () => undefined })
    const started = {
      ...JSON.parse(readFileSync(node.witness, 'utf8')),
      node: 'cc'.repeat(16),
      isFinal: false,
    }
    const running = restoring.run({
      ...{ visit: visitFrom({ ip: '', userAgent: 'test', referrer: '' }), now: nodes.clock.now() },
      onProgress: () => nodes.bucketWitness().write({ ...started, beats: started.beats + 1 }),
    })
    await expect(running).rejects.toThrow(
      /its node cccccccc wrote there a moment ago\. The pushes of this database have expired, and no node serves it/,
    )
    await restoring.close()
    await expect(node.open()).rejects.toThrow('has not come to its end')
  })
})

postgres.describe('after a restore', () => {
  const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
  const settle = async (node: TestNode) => {
    const { connect } = nodes.database
    const restoring = await openAfterRestore({
      connect,
      bucket: nodes.watchedBucket(),
      dataDir: node.dataDir,
      onWarning: () => undefined,
      writtenEvery: { bucket: 0, folder: 0 },
    })
    const progress: number[] = []
    const lost = await restoring.run({
      visit,
      now: nodes.clock.now(),
      onProgress: (done) => progress.push(done),
    })
    await restoring.close()
    return { lost, live: restoring.livePushes, halted: restoring.halted, progress }
  }

  test('every push has expired, and every session ended, before a node serves again', async () => {
    const node = makeNode()
    const store = await node.open()
    const { id } = await untilDone(() => store.accounts.addAccount(account))
    await store.sessions.addSession({ accountId: id, hash: Buffer.alloc(32, 7), visit, tested: 'x' })
    const [kept, read] = [
      await storePush({ store, clock: nodes.clock }),
      await storePush({ store, clock: nodes.clock }),
    ]
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
    await storePush({ store, clock: nodes.clock })
    await query('DELETE FROM operations')
    await query('UPDATE instance SET beats = 0')
    await cutConnections()
    while (store.database?.findRefusal() === null) await store.lists.countPushes().catch(() => undefined)
    await settle(node)
    while (store.database?.findRefusal() !== null) await Bun.sleep(100)
    expect(await untilDone(() => store.lists.countPushes())).toEqual({ live: 0, expired: 1 })
    expect(node.warnings.at(-1)).toMatch(/^The database is served again, after .+\.$/)
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
