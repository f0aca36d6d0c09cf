// The bucket of the files remembers how far the database is, and others may write there: what they put there counts as nothing.

import { expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { visitFrom } from '../../../../src/domain/audit.ts'
import { openAfterRestore } from '../../../../src/store/opening/after-restore.ts'
import { storePush } from '../../../support/store.ts'
import { type TestNode, useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes

const LARGEST = Number.MAX_SAFE_INTEGER

/** Where the nodes of the running test remember their database. */
async function keyOfWitness(): Promise<string> {
  const [row] = await query<{ tag: string }>('SELECT tag::text AS tag FROM instance')
  return nodes.bucket.listKeys().find((key) => key.endsWith(`_witness-${row?.tag}`)) ?? ''
}

/** As somebody would write it who can write to the bucket, and has no key. */
async function forge(changes: object): Promise<void> {
  const key = await keyOfWitness()
  const found = JSON.parse(nodes.bucket.read(key))
  const witness = { ...found.witness, ...changes }
  nodes.bucket.write(key, JSON.stringify({ ...found, ...witness, witness }))
}

async function readInstance() {
  const [row] = await query<{ beats: number; restoredAt: number; halted: string | null }>(
    'SELECT beats::float8 AS beats, restored_at::float8 AS "restoredAt", halted FROM instance',
  )
  if (row === undefined) throw new Error('no instance')
  return row
}

async function restore(node: TestNode, keyFile = node.keyFile) {
  const bucket = { ...nodes.bucket.settings, keyFile }
  const { connect } = nodes.database
  const writtenEvery = { bucket: 0, folder: 0 }
  const restoring = await openAfterRestore({
    ...{ connect, dataDir: node.dataDir, bucket, writtenEvery, onWarning: () => undefined },
  })
  const visit = visitFrom({ ip: '', userAgent: 'test', referrer: '' })
  try {
    return await restoring.run({ visit, now: nodes.clock.now(), onProgress: () => undefined })
  } finally {
    await restoring.close()
  }
}

const IGNORED = /^The bucket oncebox-test.* was not written by its nodes, and is ignored/

postgres.describe('what others write to the bucket', () => {
  test('stops no node, and is overwritten and told once', async () => {
    const node = makeNode()
    const store = await node.open({ bucketMs: 100 })
    const { tag } = JSON.parse(nodes.bucket.read(await keyOfWitness())).witness
    const { look } = nodes.bucketWitness()
    for (const changes of [{ beats: LARGEST }, { restoredAt: LARGEST }, { beats: 2 ** 40 }]) {
      await forge(changes)
      expect(await look(tag)).toMatchObject({ witness: null })
      await waitUntil(async () => (await look(tag))?.witness !== null)
    }
    expect(store.database?.findRefusal()).toBeNull()
    expect(node.warnings.filter((warning) => IGNORED.test(warning))).toHaveLength(1)
    await store.close()
  })

  test('keeps no node from starting, and says so', async () => {
    const node = makeNode()
    await (await node.open()).close()
    await forge({ beats: 2 ** 40 })
    const other = makeNode()
    await (await other.open()).close()
    expect(other.warnings.some((warning) => IGNORED.test(warning))).toBe(true)
    expect((await readInstance()).halted).toBeNull()
  })

  test('does not reach the counters of the database by way of after-restore', async () => {
    const node = makeNode()
    const store = await node.open()
    await storePush({ store, clock: nodes.clock })
    await store.close()
    const { beats } = await readInstance()
    await forge({ beats: 2 ** 40, restoredAt: 2 ** 45 })
    expect(await restore(node)).toBe(1)
    const after = await readInstance()
    expect(after.beats).toBe(beats + 1)
    expect(after.restoredAt).toBeLessThan(Date.now() + 3_600_000)
    await (await node.open()).close()
  })

  test('is no witness of another place of the same instance', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const key = await keyOfWitness()
    const moved = { ...nodes.bucket.settings, place: { ...nodes.bucket.settings.place, prefix: 'trial/' } }
    const text = nodes.bucket.read(key)
    const { tag } = JSON.parse(text).witness
    nodes.bucket.write(`trial/_witness-${tag}`, text)
    const other = makeNode()
    await (await other.open({ bucket: moved })).close()
    expect(other.warnings.some((warning) => IGNORED.test(warning))).toBe(true)
  })

  test('and brings back from earlier contradicts nothing, and vouches for nothing', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const key = await keyOfWitness()
    const old = nodes.bucket.read(key)
    const store = await node.open({ bucketMs: 100 })
    nodes.bucket.write(key, old)
    await waitUntil(async () => nodes.bucket.read(key) !== old)
    expect(store.database?.findRefusal()).toBeNull()
    await store.close()
    const { beats } = JSON.parse(old).witness
    // The database, too, is set back to that moment, elsewhere, and no data folder is left.
    nodes.bucket.write(key, old)
    await query(`UPDATE instance SET beats = ${beats}, place = 'elsewhere'`)
    await expect(makeNode().open()).rejects.toThrow('at another place than where it was last served')
  })

  test('is told with the number of the key when a node with another key file has signed it', async () => {
    const node = makeNode()
    await (await node.open()).close()
    const foreign = join(node.dataDir, '..', 'foreign.key')
    writeFileSync(foreign, newKeyFile().replace(/^1 /m, '7 '), { mode: 0o600 })
    const { witness } = JSON.parse(nodes.bucket.read(await keyOfWitness()))
    await nodes.bucketWitness(foreign).write(witness)
    const other = makeNode()
    await (await other.open()).close()
    expect(other.warnings.join()).toContain('was signed with key 7, which is not in the key file here')
    await expect(restore(node, foreign)).rejects.toThrow('Key 1 is missing from the key file')
  })
})

postgres.describe('counters that no node has written', () => {
  test('end serving, are written to no file, and are mended by after-restore', async () => {
    const node = makeNode()
    const store = await node.open()
    await query(`UPDATE instance SET beats = ${LARGEST}, restored_at = ${LARGEST}`)
    await waitUntil(async () => store.database?.findRefusal() !== null)
    expect(store.database?.findRefusal()).toContain('The counters of the database')
    await expect(makeNode().open()).rejects.toThrow('run "oncebox after-restore"')
    await restore(node)
    await waitUntil(async () => store.database?.findRefusal() === null)
    await store.close()
    await (await node.open()).close()
    await (await makeNode().open()).close()
    expect((await readInstance()).beats).toBeLessThan(1000)
  })

  test.each([
    ['after-restore, which writes it anew', restore],
    ['its removal', async ({ witness }: TestNode) => rmSync(witness)],
  ])('in the file of a data folder are mended by %s', async (_, mend) => {
    const node = makeNode()
    await (await node.open()).close()
    const saved = JSON.parse(readFileSync(node.witness, 'utf8'))
    writeFileSync(node.witness, JSON.stringify({ ...saved, beats: LARGEST }))
    await expect(node.open()).rejects.toThrow(/serve\.witness is damaged.*remove the file.*after-restore/)
    await mend(node)
    await (await node.open()).close()
  })
})
