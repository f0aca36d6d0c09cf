// Restored or moved databases and copied data folders: which node stops serving, and how it can serve again.

import { expect, test } from 'bun:test'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { visitFrom } from '../../../../src/domain/audit.ts'
import type { OpenedStore } from '../../../../src/store/opening/opened-store.ts'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { expireAll } from '../../../../src/store/postgres/expire-all.ts'
import { exampleRequest, storePush } from '../../../support/store.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { untilDone, waitUntil } from '../../../support/waiting.ts'
import { readKinds } from '../../conformance/engine.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query, cutConnections } = nodes

const refusalOf = (store: OpenedStore) => store.database?.findRefusal() ?? null
const isRefused = (store: OpenedStore) => waitUntil(() => refusalOf(store) !== null)
const SET_BACK = 'does not know the last change of this node'

async function runExpireAll(connect = nodes.database.connect) {
  const database = createDatabase({ connect, connections: 1 })
  const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
  const onProgress = () => undefined
  return expireAll(database, { visit, onProgress, now: nodes.clock.now() }).finally(database.close)
}

/** Saves the rows of the nodes, as a dump does. */
const keep = () => query('CREATE TABLE public.kept AS SELECT * FROM nodes')
const marks = async () => JSON.stringify(await query('SELECT id, mark FROM nodes ORDER BY id'))
async function nextMark(): Promise<void> {
  const before = await marks()
  await waitUntil(async () => (await marks()) !== before)
}
/** Restores the row. Lets heartbeats wait for it, after the running ones have ended. */
const setBack = () =>
  query(`SELECT FROM instance FOR UPDATE; DELETE FROM nodes; INSERT INTO nodes SELECT * FROM public.kept;
    SELECT pg_sleep(0.3)`)

postgres.describe('a database that was restored to an earlier state', () => {
  test('is refused by each node that has recorded a later state', async () => {
    const [one, two] = [await makeNode().open(), await makeNode().open({ beatMs: 1e9 })]
    await keep()
    // Two heartbeats, because after one of unknown outcome the node also accepts the mark before it.
    for (const _ of ['once', 'twice']) await nextMark()
    await setBack()
    await isRefused(one)
    expect(refusalOf(one)).toContain(SET_BACK)
    expect(refusalOf(one)).toContain('oncebox expire-all')
    await expect(one.health.countPushes()).rejects.toMatchObject({ code: 'overloaded' })
    // The other node was not affected: it has written nothing since the dump.
    expect(await two.health.countPushes()).toEqual({ live: 0, expired: 0 })
    expect(refusalOf(two)).toBeNull()
    for (const store of [one, two]) await store.close()
  })

  test('is detected on a new connection, before the next heartbeat', async () => {
    const store = await makeNode().open({ beatMs: 1e9 })
    await query("UPDATE nodes SET mark = 'of an earlier heartbeat'")
    await cutConnections()
    await waitUntil(async () => {
      await store.health.countPushes().catch(() => undefined)
      return refusalOf(store) !== null
    })
    expect(refusalOf(store)).toContain(SET_BACK)
    await store.close()
  })

  test('is refused at the start of a node, even if the row of the node is missing', async () => {
    const node = makeNode()
    const store = await node.open()
    await keep()
    await store.close()
    await setBack()
    await expect(node.open()).rejects.toThrow(SET_BACK)
    await query('DELETE FROM nodes')
    await expect(node.open()).rejects.toThrow(SET_BACK)
  })

  test('is served again after expire-all, which expires every push', async () => {
    const node = makeNode()
    const store = await node.open()
    const account = await untilDone(() =>
      store.accounts.addAccount({ email: 'ann@example.org', passwordHash: 'x', isAdmin: true }),
    )
    await query(
      `INSERT INTO passkeys (account_id, credential_id, public_key, counter, rp_id, name, signs_in, created_at)
      VALUES (${account.id}, '1', '2', 0, 'once.example', 'Key', true, 0)`,
    )
    const request = await store.requests.addRequest(exampleRequest(account.id, nodes.clock.now()), 0)
    const tell = () => store.events.tellAdmins({ type: 'backup.failed', data: {} })
    for (let n = 0; n < 3; n += 1) await tell()
    const live = await storePush({ store, clock: nodes.clock })
    const lapsed = await storePush({ store, clock: nodes.clock })
    await keep()
    await expect(runExpireAll()).rejects.toThrow(/Nodes serve the database \(test\).*Nothing was changed/)
    expect(await store.pushes.findPush(live.lookup)).toMatchObject({ expiredOn: null })
    await store.close()
    await setBack()
    await query('UPDATE nodes SET seen_at = 0')
    await query(`UPDATE pushes SET expires_at = ${nodes.clock.now() - 5} WHERE id = ${lapsed.id}`)
    const { lost, leftPrefix } = await runExpireAll()
    expect(lost).toBe(1)
    expect(leftPrefix).toMatch(/^\w{26}$/)
    const again = await node.open()
    expect(await again.pushes.findPush(live.lookup)).toMatchObject({
      ...{ expiredOn: nodes.clock.now(), lost: true },
    })
    expect(await again.pushes.findPush(lapsed.lookup)).toMatchObject({
      ...{ expiredOn: nodes.clock.now() - 5, lost: false },
    })
    expect(await readKinds({ store: again }, live.id)).toContain('expire')
    expect(await again.requests.findRequest(request.lookup)).toBeNull()
    expect(await query('SELECT 1 FROM push_secrets')).toEqual([])
    expect(await query('SELECT 1 FROM address_shares')).toEqual([])
    expect(await again.accounts.listAccounts()).toHaveLength(1)
    expect(await again.passkeys.listPasskeys(account.id)).toMatchObject([{ signsIn: false }])
    // No new event gets a number from before the restore.
    const told = () => again.events.listEvents({ accountId: account.id, after: 0 })
    expect(await told()).toEqual({ events: [], first: 0, last: nodes.clock.now() })
    await again.events.tellAdmins({ type: 'backup.failed', data: {} })
    expect((await told()).events.map(({ n }) => n)).toEqual([nodes.clock.now() + 1])
    await again.close()
    await (await node.open()).close()
  }, 60_000)
})

postgres.describe('a heartbeat whose outcome is unknown', () => {
  test('leaves one of two marks, and the next start accepts both', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const note = JSON.parse(readFileSync(node.note, 'utf8'))
    // The process was killed after the note was written, or after the commit.
    for (const [last, next] of [
      [note.next, 'f'.repeat(32)],
      ['e'.repeat(32), note.next],
    ]) {
      writeFileSync(node.note, JSON.stringify({ ...note, last, next }))
      const [row] = await query<{ mark: string }>('SELECT mark FROM nodes')
      await query(`UPDATE nodes SET mark = '${note.next}'`)
      expect(row?.mark).toBeDefined()
      await (await node.open()).close()
    }
  })
})

postgres.describe('a data folder that was copied', () => {
  test('stops only the nodes that serve it', async () => {
    const [node, copy, other] = [makeNode(), makeNode(), makeNode()]
    const [original, neighbour] = [await node.open({ beatMs: 1e9 }), await other.open()]
    cpSync(node.dataDir, copy.dataDir, { recursive: true })
    const second = await copy.open()
    await cutConnections()
    await waitUntil(async () => {
      await original.health.countPushes().catch(() => undefined)
      return refusalOf(original) !== null
    })
    expect(refusalOf(original)).toContain('a copy of this data folder is served elsewhere')
    await untilDone(() => second.health.countPushes())
    await untilDone(() => neighbour.health.countPushes())
    expect([refusalOf(second), refusalOf(neighbour)]).toEqual([null, null])
    for (const store of [original, second, neighbour]) await store.close()
  })
})

postgres.describe('a restored copy of a database', () => {
  test('is refused until expire-all, and afterwards does not affect the nodes and files of its original', async () => {
    const [node, trial] = [makeNode(), makeNode()]
    const before = await node.open()
    const keepFile = (store: OpenedStore, id: string) =>
      store.files.keepFile(
        id,
        (async function* () {
          yield new Uint8Array([1, 2, 3])
        })(),
      )
    await keepFile(before, 'a'.repeat(26))
    await before.files.giveUpFile('a'.repeat(26))
    await before.close()
    const files = nodes.bucket.listKeys().filter((key) => key.endsWith('a'.repeat(26)))
    const connect = await postgres.copyDatabase(nodes.database, 'trial_of_a_restore')
    const original = await node.open()
    await expect(trial.open({ connect })).rejects.toThrow('is not where it was served last')
    const { leftPrefix } = await runExpireAll(connect)
    expect(files.join()).toContain(`${leftPrefix}/`)
    const served = await trial.open({ connect })
    await served.files.removeDue()
    expect(await query('SELECT 1 FROM nodes WHERE seen_at > 0')).toHaveLength(1)
    await served.close()
    // The original refuses the folder of the trial, and no other node is affected.
    await expect(trial.open()).rejects.toThrow(SET_BACK)
    await untilDone(() => original.health.countPushes())
    expect(refusalOf(original)).toBeNull()
    await original.close()
  }, 60_000)

  test('is served after --accept-database if it lacks nothing', async () => {
    const node = makeNode()
    const store = await node.open()
    await store.close()
    const connect = await postgres.copyDatabase(nodes.database, 'moved_for_good')
    await expect(node.open({ connect })).rejects.toThrow('--accept-database')
    const moved = await node.open({ connect, acceptDatabase: true })
    expect(await moved.health.countPushes()).toEqual({ live: 0, expired: 0 })
    await moved.close()
    await (await node.open({ connect })).close()
    // The database is the right one again, but it lacks what the other one has stored since.
    await expect(node.open()).rejects.toThrow(SET_BACK)
  })
})
