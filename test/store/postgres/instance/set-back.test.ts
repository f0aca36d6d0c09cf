// A database that was set back to an earlier state, that commits nothing, or that a failover left behind: no node serves it.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import type { OpenPool } from '../../../../src/store/postgres/engine/connection.ts'
import { createServers } from '../../../../src/store/postgres/engine/servers.ts'
import type { SavedWitness } from '../../../../src/store/witness/saved-witness.ts'
import { connectTo } from '../../../support/postgres.ts'
import { BUCKET_MARK_MS, useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query, cutConnections } = nodes
const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }

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
    await expect(node.open()).rejects.toThrow(
      /is at an earlier state: its counter is \d+, and was \d+ already/,
    )
  })

  test('is not served from another place, unless the last node knows that nothing is missing', async () => {
    const [first, second] = [makeNode(), makeNode()]
    await (await first.open()).close()
    await query("UPDATE instance SET place = 'elsewhere'")
    for (const key of nodes.bucket.listKeys()) if (key.includes('_witness')) nodes.bucket.remove(key)
    await expect(second.open()).rejects.toThrow('at another place than where it was last served')
    await (await first.open()).close()
    await (await second.open()).close()
  })

  test('is served by a node that starts once a node that runs says that nothing is missing', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const one = await first.open({ beatMs: 3_600_000 })
    await query("UPDATE instance SET place = 'elsewhere'")
    const starting = second.open({ patience: BUCKET_MARK_MS })
    await waitUntil(() =>
      second.warnings.some((warning) => warning.includes('Waiting for a node that knows.')),
    )
    // This is also a heartbeat.
    await one.clock.accept()
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

  test('is not served from another place by a new node on the word of the bucket, which others can set back', async () => {
    const node = makeNode()
    await (await node.open()).close()
    await query("UPDATE instance SET place = 'elsewhere'")
    await expect(makeNode().open()).rejects.toThrow('at another place than where it was last served')
    await (await node.open()).close()
  })

  test('is passed over by a running node as soon as another server of the address has the right one', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const copy = await postgres.copyDatabase(nodes.database, 'copy_on_another_server')
    const nowhere = connectTo('postgres://nobody@127.0.0.1:1/nothing')
    let isDown = false
    const right: OpenPool = (max, onClose) => (isDown ? nowhere : nodes.database.connect)(max, onClose)
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
    expect(await untilDone(() => store.accounts.listAccounts())).toHaveLength(1)
    expect(used).toEqual(['right', 'copy', 'right'])
    await store.close()
  }, 300_000)

  test('is not served while the server does not write to its disk, and again afterwards', async () => {
    const node = makeNode()
    const store = await node.open()
    const admin = connectTo(nodes.database.address.replace(/\/\/[^:]+:/, '//postgres:'))(1)
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

  test('is not served while a crash would empty one of its tables, by a node that runs or starts', async () => {
    const node = makeNode()
    const store = await node.open()
    const isServed = () =>
      store.lists.countPushes().then(
        () => true,
        () => false,
      )
    await query('ALTER TABLE oncebox.push_secrets SET UNLOGGED')
    await waitUntil(async () => !(await isServed()))
    await expect(makeNode().open()).rejects.toThrow('would empty oncebox.push_secrets (UNLOGGED)')
    await query('ALTER TABLE oncebox.push_secrets SET LOGGED')
    await waitUntil(isServed)
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
    const admin = connectTo(nodes.database.address.replace(/\/\/[^:]+:/, '//postgres:'))(1)
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
    const { write } = nodes.bucketWitness()
    await write(overtake(JSON.parse(readFileSync(node.witness, 'utf8'))))
    await expect(makeNode().open()).rejects.toThrow(later)
  })

  test('is left by nodes that run once the bucket knows of it, and the bucket is not told of it again', async () => {
    const node = makeNode()
    const store = await node.open({ bucketMs: 100 })
    const { write, read } = nodes.bucketWitness()
    const witness = { ...overtake(JSON.parse(readFileSync(node.witness, 'utf8'))), beats: 0 }
    await write(witness)
    while (store.database?.findRefusal() === null) await Bun.sleep(20)
    expect(store.database?.findRefusal()).toMatch(later)
    await store.close()
    expect(await read(witness.tag)).toEqual(witness)
  }, 60_000)
})
