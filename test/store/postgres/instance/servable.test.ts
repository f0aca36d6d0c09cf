// Commands beside the nodes: they use no database that a node would refuse to serve, and say so in the same words.

import { expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { openPostgresAccounts } from '../../../../src/store/opening/postgres-accounts.ts'
import type { SavedWitness } from '../../../../src/store/witness/saved-witness.ts'
import { addressOf } from '../../../support/use-cluster.ts'
import { type TestNode, useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes
const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }

type How = { create?: boolean; withBucket?: boolean; keyFile?: string | null; warnings?: string[] }

/** As `oncebox user` opens it on the machine of this node. */
function open(node: Pick<TestNode, 'dataDir' | 'keyFile'>, how: How = {}) {
  const { create = false, withBucket = false, keyFile = node.keyFile, warnings = [] } = how
  return openPostgresAccounts({
    address: addressOf(`${nodes.database.address}?sslmode=disable`),
    remembering: { dataDir: node.dataDir, bucket: withBucket ? nodes.bucket.settings : null, keyFile },
    onWarning: (warning) => warnings.push(warning),
    create,
    recent: 0,
    patience: 120_000,
  })
}

const readWitness = (node: TestNode): SavedWitness => JSON.parse(readFileSync(node.witness, 'utf8'))
const remember = (node: TestNode, changes: Partial<SavedWitness>) =>
  writeFileSync(node.witness, JSON.stringify({ ...readWitness(node), ...changes }))

async function served(): Promise<TestNode> {
  const node = makeNode()
  await (await node.open()).close()
  return node
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
  )
}

postgres.describe('a command beside the nodes', () => {
  test('uses a database that is served, that was stopped in order, and that no node has served yet', async () => {
    const node = makeNode()
    await (await open(node, { create: true })).close()
    const store = await node.open()
    for (const withBucket of [false, true]) await (await open(node, { withBucket })).close()
    await store.close()
    await (await open(node, { withBucket: true })).close()
    await (await open(makeNode())).close()
  })

  test('refuses one that is behind what the folder of this machine remembers, as a node does', async () => {
    const node = await served()
    remember(node, { beats: readWitness(node).beats + 1, isFinal: false })
    const refusal = await refusalOf(open(node))
    expect(refusal).toMatch(/^The database is at an earlier state: its counter is \d+, and was \d+ already\./)
    expect(refusal).toBe(await refusalOf(node.open()))
    // The node has left its reason in the database, for those that remember nothing.
    expect(await refusalOf(open(makeNode()))).toBe(refusal)
  })

  test('refuses one that lacks a change, also when only the bucket remembers that', async () => {
    const node = await served()
    const witness = {
      ...readWitness(node),
      operations: ['00'.repeat(16)],
      beats: readWitness(node).beats + 1,
    }
    await query('UPDATE instance SET beats = beats + 1')
    await nodes.bucketWitness().write({ ...witness, savedAt: Date.now() })
    await (await open(makeNode())).close()
    expect(await refusalOf(open(makeNode(), { withBucket: true }))).toContain(
      'a change that it had acknowledged is missing',
    )
  })

  test('refuses a server that a failover left behind at once, and writes nothing there', async () => {
    const node = await served()
    const { place } = readWitness(node)
    remember(node, { place: place?.replace(/[0-9A-F]{8}$/, '0000000A') ?? null })
    const before = await query('SELECT * FROM instance')
    const refusal = await refusalOf(open(node))
    expect(refusal).toContain('and was served on timeline 10 already: a failover left this server behind')
    expect(await query('SELECT * FROM instance')).toEqual(before)
    expect(refusal).toBe(await refusalOf(node.open()))
  })

  test('refuses one at another place at once while no node lives, and waits for a node that knows', async () => {
    const [node, other] = [makeNode(), makeNode()]
    const store = await node.open({ beatMs: 3_600_000 })
    const warnings: string[] = []
    await query("UPDATE instance SET place = 'elsewhere'")
    const opening = open(other, { warnings })
    await waitUntil(() => warnings.some((warning) => warning.includes('Waiting for a node that knows.')))
    // This is also a heartbeat.
    await store.clock.accept()
    await (await opening).close()
    await store.close()
    await query("UPDATE instance SET place = 'elsewhere'")
    const refusal = await refusalOf(open(other, { warnings }))
    expect(refusal).toContain('at another place than where it was last served')
    expect(warnings).toHaveLength(1)
    // The node that stopped last knows.
    await (await open(node)).close()
  })

  test('refuses the folder of another database, and an empty database in place of the former', async () => {
    const node = await served()
    remember(node, { tag: crypto.randomUUID() })
    const refusal = await refusalOf(open(node))
    expect(refusal).toStartWith('This data folder served another database than the one of --database-url.')
    expect(refusal).toBe(await refusalOf(node.open()))
    await query('DROP SCHEMA oncebox CASCADE')
    expect(await refusalOf(open(node, { create: true }))).toContain('though this data folder served one')
    expect(await query("SELECT to_regnamespace('oncebox') AS schema")).toEqual([{ schema: null }])
  })

  test('changes nothing in a database that was set back while it asked a question', async () => {
    const node = await served()
    const { accounts, close } = await open(node)
    await accounts.addAccount(account)
    remember(node, { beats: readWitness(node).beats + 1, isFinal: false })
    await expect(accounts.addAccount({ ...account, email: 'bo@example.org' })).rejects.toThrow(
      'is at an earlier state',
    )
    expect(await accounts.listAccounts()).toHaveLength(1)
    await close()
  })

  test('goes on with a bucket that fails, and says once what nobody can tell then', async () => {
    const node = await served()
    nodes.bucket.failWith(() => ({ status: 403, code: 'AccessDenied' }))
    const warnings: string[] = []
    const { accounts, close } = await open(node, { withBucket: true, warnings })
    await accounts.addAccount(account)
    await close()
    nodes.bucket.failWith(() => null)
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The bucket oncebox-test.* cannot tell whether this database was set back, because /,
      ),
    ])
  })

  test('says what nobody can tell without the key by which the nodes have signed what the bucket remembers', async () => {
    const node = await served()
    const warnings: string[] = []
    await (await open(node, { withBucket: true, keyFile: null, warnings })).close()
    await (await open(node, { withBucket: true, keyFile: '/nowhere/instance.key', warnings })).close()
    expect(warnings).toEqual([
      expect.stringMatching(/^The bucket .* because the instance key is not known \(--key-file\)\.$/),
      expect.stringMatching(/^The bucket .* because Cannot use the key file \/nowhere\/instance.key: /),
    ])
  })

  test('reads a damaged memory as a node does, and says when it may not read it', async () => {
    const node = await served()
    writeFileSync(node.witness, '{')
    expect(await refusalOf(open(node))).toBe(await refusalOf(node.open()))
    chmodSync(node.witness, 0)
    // Root may read everything.
    if (process.geteuid?.() !== 0) expect(await refusalOf(open(node))).toContain('cannot be read')
  })
})
