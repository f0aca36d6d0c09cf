// The stage of PostgreSQL: one node and two over a server that writes to the disk and waits for it, also among a million pushes.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { type Cluster, startCluster } from '../../test/support/cluster.ts'
import { measureBucket, openPlace } from './bucket.ts'
import { inTurn, pushesNeeded } from './empty-folder.ts'
import { runLoad } from './load.ts'
import { type Beside, CONNECTIONS, createsLoad, type Requests, retrievesLoad } from './loads.ts'
import { residentMebibytes } from './memory.ts'
import { type Running, startOncebox } from './servers.ts'
import { measureRow, type Stage, watchMemoryOf } from './stage.ts'
import { targets } from './targets.ts'
import { createTokenList, type TokenList } from './token-list.ts'

/** What docs/beyond-one-machine.md recommends for a small machine. */
const CONFIG = ['shared_buffers=512MB', 'max_wal_size=4GB', 'checkpoint_completion_target=0.9']
const FILLED_AT_ONCE = 50_000
/** Requests of each kind to a new node, whose program is compiled while it runs. */
const WARM_UP = 20_000

type Options = { pushes: number | undefined; parent: string | undefined }

export async function measurePostgres(divided: Stage, { pushes, parent }: Options): Promise<void> {
  // One node and two have the same cores, those of the database server.
  const stage = { ...divided, cores: divided.cores.share() }
  const cluster = await startCluster({
    isDurable: true,
    config: CONFIG,
    ...(parent === undefined ? {} : { parent }),
  })
  // Several nodes are only allowed with a bucket.
  const place = await openPlace(stage.sandbox.folder)
  try {
    console.log(await describeCluster(cluster))
    const env = { ...environmentOf(stage, cluster), ...place.env }
    const tokens = createTokenList()
    const nodes = [await startNode(stage, { env, name: 'node-1', tokens })]
    const one = await measureNodes(stage, { nodes, tokens, what: 'one node' })
    judgeOne(stage, one)
    nodes.push(await startNode(stage, { env, name: 'node-2', tokens }))
    judgeTwo(stage, one, await measureNodes(stage, { nodes, tokens, what: 'two nodes' }))
    if (pushes !== undefined)
      judgeFull(stage, one, await measureFull(stage, { nodes, tokens, pushes, cluster }))
    for (const node of nodes) await node.stop()
    await measureBucket(stage, { place, env })
  } finally {
    await place.end()
    await cluster.remove()
  }
}

async function describeCluster(cluster: Cluster): Promise<string> {
  const names = [
    'server_version',
    'fsync',
    'synchronous_commit',
    'wal_sync_method',
    'full_page_writes',
    'shared_buffers',
  ]
  const rows = await cluster.run<{ name: string; setting: string; unit: string | null }>(
    `SELECT name, current_setting(name) AS setting FROM unnest(ARRAY['${names.join("','")}']) AS name`,
  )
  return `PostgreSQL in ${cluster.folder}: ${rows.map(({ name, setting }) => `${name}=${setting}`).join(' ')}`
}

function environmentOf({ sandbox }: Stage, cluster: Cluster): Record<string, string> {
  const keyFile = join(sandbox.folder, 'nodes.key')
  writeFileSync(keyFile, newKeyFile())
  chmodSync(keyFile, 0o600)
  return { ONCEBOX_DATABASE_URL: cluster.address(), ONCEBOX_KEY_FILE: keyFile }
}

type NewNode = { env: Record<string, string>; name: string; tokens: TokenList }

async function startNode(stage: Stage, { env, name, tokens }: NewNode): Promise<Running> {
  const { sandbox, binary, cores } = stage
  const dataDir = join(sandbox.folder, name)
  const node = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix, env })
  const warmUp = (load: Requests) =>
    runLoad({ ...load, connections: CONNECTIONS, until: { requests: WARM_UP } })
  await warmUp(createsLoad(node, tokens))
  await warmUp(retrievesLoad(node, { tokens, pick: inTurn(tokens.count()) }))
  return node
}

type Nodes = { nodes: readonly Running[]; tokens: TokenList; what: string }
type Measured = { creates: Beside; retrieves: Beside; memory: number | undefined }

async function measureNodes(stage: Stage, { nodes, tokens, what }: Nodes): Promise<Measured> {
  const [first, ...others] = nodes
  if (first === undefined) throw new Error('there is no node')
  watchMemoryOf(first)
  const spread = (load: Requests) => ({ ...load, otherPorts: others.map(({ port }) => port) })
  const create = spread(createsLoad(first, tokens))
  const creates = await measureRow(stage, { what: `creates, ${what}`, load: create, target: '' })
  const needed = Math.min(tokens.count(), pushesNeeded(stage.seconds))
  const load = spread(retrievesLoad(first, { tokens, pick: inTurn(needed) }))
  const retrieves = await measureRow(stage, { what: `claims, ${what}`, load, target: '' })
  return { creates, retrieves, memory: residentMebibytes(first.pid) }
}

function judgeOne({ report }: Stage, { creates, retrieves, memory }: Measured): void {
  const rates = [
    { what: 'creates of one node over PostgreSQL', of: creates, limit: targets.postgresCreates },
    { what: 'claims of one node over PostgreSQL', of: retrieves, limit: targets.postgresClaims },
  ]
  for (const { what, of, limit } of rates) {
    report.judge({ what, measured: of.result.rate, unit: '/s', limit })
    const p99 = of.result.latencies.percentile(0.99)
    report.judge({ what: `p99 of ${what}`, measured: p99, unit: 'ms', limit: targets.postgresP99 })
  }
  report.judge({ what: 'memory of a node', measured: memory, unit: 'MiB', limit: targets.loadedMemory })
}

function judgeTwo(stage: Stage, one: Measured, two: Measured): void {
  for (const [part, what] of [
    ['creates', 'creates of two nodes, of the rate of one'],
    ['retrieves', 'claims of two nodes, of the rate of one'],
  ] as const) {
    stage.report.judge({
      what,
      measured: shareOf(two[part], one[part]),
      unit: '%',
      limit: targets.postgresTwoNodes,
    })
    const measured = two[part].result.latencies.percentile(0.99)
    stage.report.judge({
      what: `p99 of ${part}, two nodes`,
      measured,
      unit: 'ms',
      limit: targets.postgresP99,
    })
  }
}

type Filling = Omit<Nodes, 'what'> & { pushes: number; cluster: Cluster }

async function measureFull(stage: Stage, from: Filling): Promise<Measured> {
  const { nodes, tokens, pushes, cluster } = from
  const [first, ...others] = nodes
  if (first === undefined) throw new Error('there is no node')
  while (tokens.count() < pushes) {
    const requests = Math.min(pushes - tokens.count(), FILLED_AT_ONCE)
    const otherPorts = others.map(({ port }) => port)
    const load = { ...createsLoad(first, tokens), otherPorts, connections: CONNECTIONS, until: { requests } }
    const { errors, firstError } = await runLoad(load)
    if (errors > 0) throw new Error(`filling the database met ${errors} errors: ${firstError}`)
    console.error(`… ${tokens.count().toLocaleString('en')} pushes`)
  }
  await settle(cluster)
  const what = `one node, ${tokens.count().toLocaleString('en')} pushes`
  const pick = () => Math.floor(Math.random() * tokens.count())
  const load = retrievesLoad(first, { tokens, pick })
  const retrieves = await measureRow(stage, { what: `claims, ${what}`, load, target: '' })
  const creates = await measureRow(stage, {
    what: `creates, ${what}`,
    load: createsLoad(first, tokens),
    target: '',
  })
  return { creates, retrieves, memory: residentMebibytes(first.pid) }
}

/** Nothing that the filling left to do is done during what follows. Each page that is then changed goes whole to the log. */
async function settle(cluster: Cluster): Promise<void> {
  await cluster.run('VACUUM')
  await cluster.run('CHECKPOINT')
  Bun.spawnSync(['sync'])
}

function judgeFull({ report }: Stage, one: Measured, full: Measured): void {
  for (const [part, what] of [
    ['creates', 'creates among them, of the rate on a new database'],
    ['retrieves', 'claims among them, of the rate on a new database'],
  ] as const) {
    const measured = shareOf(full[part], one[part])
    report.judge({ what, measured, unit: '%', limit: targets.postgresFull })
  }
}

/** In percent, each measured by the bare server beside it, because the speed of a shared machine varies from load to load. */
function shareOf(of: Beside, whole: Beside): number {
  return (of.result.rate / of.bareRate / (whole.result.rate / whole.bareRate)) * 100
}
