// Benchmarks one node and two over a PostgreSQL server with synchronous commits on a disk.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { openTestBucket } from '../../test/support/bucket.ts'
import { startCluster } from '../../test/support/cluster.ts'
import type { Requests } from './load.ts'
import { type Bench, measureRates, measureShares, runRequests } from './measure.ts'
import { creates, createTokens, retrieves, type Tokens } from './requests.ts'
import { type Running, startOncebox } from './servers.ts'
import { targets, type Wanted } from './targets.ts'

/** The configuration that docs/beyond-one-machine.md recommends for a small machine. */
const CONFIG = ['shared_buffers=512MB', 'max_wal_size=4GB', 'checkpoint_completion_target=0.9']
const PREPARED = 20_000

interface Office {
  readonly nodes: readonly Running[]
  readonly tokens: Tokens
  close(): Promise<void>
}

/** The nodes, the database server and the load share all cores. */
export async function measurePostgres(divided: Bench, parent: string | undefined): Promise<void> {
  const bench = { ...divided, cores: divided.cores.share() }
  const offices: Office[] = []
  try {
    for (const [n, binary] of bench.binaries.entries())
      offices.push(await openOffice(bench, { binary, name: `office-${n}`, parent }))
    const { postgresCreates, postgresRetrieves } = targets
    await measureNodes(bench, { offices, what: 'creates', make: creates, wanted: postgresCreates })
    for (const { nodes, tokens } of offices)
      for (const node of nodes) await runRequests(creates(node, tokens), PREPARED / 2)
    await measureNodes(bench, { offices, what: 'retrieves', make: retrieves, wanted: postgresRetrieves })
  } finally {
    for (const { close } of offices) await close()
  }
}

/** Measures the rate of the first node, and that of all nodes relative to it. */
async function measureNodes(
  bench: Bench,
  from: {
    offices: readonly Office[]
    what: string
    make: (server: Running, tokens: Tokens) => Requests
    wanted: Wanted
  },
): Promise<void> {
  const { offices, what, make, wanted } = from
  const loads = offices.flatMap(({ nodes: [first, ...others], tokens }) => {
    if (first === undefined) return []
    const base = make(first, tokens)
    return [{ base, load: { ...base, others } }]
  })
  const one = `${what} of one node over PostgreSQL`
  await measureRates(bench, { what: one, wanted, of: loads.map(({ base }) => base) })
  const two = `${what} of two nodes, of those of one`
  await measureShares(bench, { what: two, wanted: targets.postgresTwoNodes, of: loads })
}

/** Starts two nodes over a database server with a bucket, without which only one node may run. */
async function openOffice(
  { sandbox, cores }: Bench,
  { binary, name, parent }: { binary: string; name: string; parent: string | undefined },
): Promise<Office> {
  const place = parent === undefined ? {} : { parent }
  const cluster = await startCluster({ isDurable: true, config: CONFIG, ...place })
  const bucket = await openTestBucket()
  const keyFile = join(sandbox.folder, `${name}.key`)
  writeFileSync(keyFile, newKeyFile())
  chmodSync(keyFile, 0o600)
  const env = {
    ONCEBOX_DATABASE_URL: cluster.address(),
    ONCEBOX_KEY_FILE: keyFile,
    ONCEBOX_FILES_URL: bucket.url,
    ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  }
  const nodes: Running[] = []
  for (const n of [1, 2]) {
    const dataDir = join(sandbox.folder, `${name}-${n}`)
    nodes.push(await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix, env }))
  }
  async function close(): Promise<void> {
    for (const node of nodes) await node.stop()
    await bucket.close()
    await cluster.remove()
  }
  return { nodes, tokens: createTokens(), close }
}
