// How a node joins a database: with its key, its folder and its clock, beside other nodes and other versions.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { storePush } from '../../../support/store.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone } from '../../../support/waiting.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes
const DAY = 24 * 60 * 60 * 1000

postgres.describe('the key of a database', () => {
  test('is created once, for an empty database, readable only for its owner', async () => {
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

  test('may be removed once nothing is sealed under it, but not while another node runs', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const line = newKeyFile().split('\n').at(-2)?.replace(/^1/, '2')
    const old = readFileSync(first.keyFile, 'utf8')
    writeFileSync(first.keyFile, `${old}${line}\n`)
    writeFileSync(second.keyFile, `${line}\n`)
    const store = await first.open()
    await expect(second.open()).rejects.toThrow(/Key 1 .*is missing from the key file/)
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
    expect(await query('SELECT 1 FROM nodes WHERE seen_at > 0')).toEqual([])
  })

  test('that start at once on an empty database all succeed, and one of them creates the tables', async () => {
    const starting = [makeNode(), makeNode(), makeNode()]
    const stores = await Promise.all(starting.map((node) => node.open()))
    expect(await stores[0]?.database?.listNodes()).toHaveLength(3)
    const pushes = await Promise.all(
      stores.map((store) => untilDone(() => storePush({ store, clock: nodes.clock }))),
    )
    expect(new Set(pushes.map(({ id }) => id)).size).toBe(3)
    await Promise.all(stores.map((store) => store.close()))
    expect(await query('SELECT 1 FROM nodes WHERE seen_at > 0')).toEqual([])
  })

  test('that start at once with different keys are not both served', async () => {
    const [first, second] = [makeNode(), makeNode()]
    writeFileSync(second.keyFile, newKeyFile())
    const tries = await Promise.allSettled([first, second].map((node) => node.open()))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const tried of tries) if (tried.status === 'fulfilled') await tried.value.close()
  })

  test('that were killed and start again have one row, and their uploads are given up', async () => {
    const node = makeNode()
    await (await node.open()).close()
    // The state after kill -9.
    await query(
      `UPDATE nodes SET seen_at = 8e12; INSERT INTO files_due (id, node) SELECT 'unfinished', id FROM nodes`,
    )
    const again = await node.open()
    expect((await again.database?.listNodes())?.map(({ isThis }) => isThis)).toEqual([true])
    expect(await query("SELECT 1 FROM files_due WHERE id = 'unfinished' AND at IS NULL")).toEqual([])
    await again.close()
  })
})

postgres.describe('a folder whose note is damaged', () => {
  test('is refused with the remedy, and served again after it', async () => {
    const node = makeNode()
    await (await node.open()).close()
    // A server also writes these files.
    for (const name of ['setup-link', 'serve.settings']) writeFileSync(join(node.dataDir, name), 'x')
    writeFileSync(node.note, '{')
    await expect(node.open()).rejects.toThrow('If you know that it was not, remove the file and start again')
    rmSync(node.note)
    await (await node.open()).close()
  })
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

  test('that holds its own database, or other files, is refused', async () => {
    const node = makeNode()
    await Bun.write(join(node.dataDir, 'oncebox.db'), 'rows')
    await expect(node.open()).rejects.toThrow('holds a database of its own')
    const other = makeNode()
    await Bun.write(join(other.dataDir, 'letter.txt'), 'Dear Ann')
    await expect(other.open()).rejects.toThrow('letter.txt')
  })
})

postgres.describe('the clock', () => {
  test('follows the database, whatever the clocks of the nodes say', async () => {
    const store = await makeNode().open({ systemNow: null })
    const [row] = await query<{ time: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time',
    )
    expect(Math.abs(store.now() - (row?.time ?? 0))).toBeLessThan(60_000)
    expect(Number.isInteger(store.now())).toBe(true)
    await store.close()
  })

  test('never runs behind the time that another node has recorded', async () => {
    const first = await makeNode().open()
    nodes.clock.advance(90_000)
    const second = await makeNode().open()
    await second.close()
    nodes.clock.set(nodes.clock.now() - 90_000)
    const third = await makeNode().open()
    expect(third.now()).toBe(nodes.clock.now() + 90_000)
    await third.close()
    await first.close()
  })

  test('is refused if it is more than a day behind the last use, unless it is accepted', async () => {
    const node = makeNode()
    await (await node.open()).close()
    nodes.clock.set(nodes.clock.now() - 2 * DAY)
    await expect(node.open()).rejects.toThrow('The clock of the database server says')
    const store = await node.open({ acceptClock: true })
    expect(store.now()).toBe(nodes.clock.now())
    await store.close()
    await (await node.open()).close()
  })

  test('that jumped ahead stays in doubt after a restart, until it is confirmed on one node', async () => {
    const node = makeNode()
    await (await node.open()).close()
    nodes.clock.set(nodes.clock.now() + 30 * DAY)
    const store = await node.open()
    expect(store.clock.doubt()).not.toBeNull()
    expect(store.clock.trusted()).toBeNull()
    await store.clock.accept()
    expect(store.clock.doubt()).toBeNull()
    await store.close()
    const again = await node.open()
    expect(again.clock.doubt()).toBeNull()
    await again.close()
  })

  test('that was ahead is corrected for all nodes by one, and pushes created meanwhile expire no later', async () => {
    const [one, two] = [await makeNode().open(), await makeNode().open()]
    const before = nodes.clock.now()
    nodes.clock.set(before + 30 * DAY)
    expect([one.clock.doubt(), two.clock.doubt()]).not.toContain(null)
    const made = await storePush({ store: one, clock: nodes.clock })
    nodes.clock.set(before + 1000)
    while (one.clock.doubt() !== null || two.clock.doubt() !== null) await Bun.sleep(20)
    const find = async () => (await two.pushes.findPush(made.lookup))?.expiresAt ?? 0
    while ((await find()) > before + 2 * DAY) await Bun.sleep(20)
    expect(await find()).toBe(made.expiresAt - 30 * DAY + 1000)
    nodes.clock.set(before + 60 * DAY)
    expect([one.clock.doubt(), two.clock.doubt()]).not.toContain(null)
    await one.clock.accept()
    while (two.clock.doubt() !== null) await Bun.sleep(20)
    expect(two.now()).toBe(nodes.clock.now())
    await one.close()
    await two.close()
  })
})

postgres.describe('tables of a newer program', () => {
  const migrate = (compatibleFrom: number) =>
    query(`INSERT INTO schema_versions (version, compatible_from) VALUES (99, ${compatibleFrom})`)

  test('are served by running and starting nodes if they are compatible', async () => {
    const node = makeNode()
    const store = await node.open()
    await migrate(1)
    await store.close()
    const again = await node.open()
    expect(await again.health.countPushes()).toEqual({ live: 0, expired: 0 })
    await again.close()
  })

  test('stop a running node and refuse a starting one if they are incompatible', async () => {
    const node = makeNode()
    const store = await node.open()
    await migrate(99)
    while (store.database?.findRefusal() === null) await Bun.sleep(20)
    expect(store.database?.findRefusal()).toContain('was migrated by a newer Oncebox')
    await expect(store.health.countPushes()).rejects.toMatchObject({ code: 'overloaded' })
    await store.close()
    await expect(node.open()).rejects.toThrow('Run that one.')
  })
})
