// Several nodes of the compiled binary with one PostgreSQL server and one bucket, and proxies between them
// that fail on command.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import {
  type Ended,
  makeFolder,
  removeFolder,
  runBinary,
  type Signal,
  type Started,
  startBinary,
} from './binary.ts'
import { openTestBucket, type TestBucket } from './bucket.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

export type OfficeOptions = {
  nodes: number
  /** Whether commits wait for a real disk. */
  isDurable: boolean
  /** Environment variables of one node, such as those of a wrong clock. */
  environmentOf?: (node: number) => Record<string, string>
  /** Further flags for every node. */
  flags?: readonly string[]
}

export type Node = {
  name: string
  /** The running server; null while it is stopped. */
  server: Started | null
  /** The proxy between the node and the database. */
  proxy: FaultProxy
  /** Starts the node; with `binary`, another build. */
  start(binary?: string): Promise<Started>
  end(signal: Signal): Promise<void>
}

export type Office = {
  nodes: readonly Node[]
  cluster: Cluster
  bucket: TestBucket
  /** The credentials of an account, and headers with an API token. */
  account: { email: string; password: string }
  auth: { authorization: string }
  /** Runs a command beside the nodes, such as `user list`, through the proxies of the first node. */
  command(args: string[], input?: string): Promise<Ended>
  close(): Promise<void>
}

const ACCOUNT = { email: 'ann@example.org', password: 'correct horse battery' }

/** Starts everything, and makes an account with an API token. */
export async function openOffice(options: OfficeOptions): Promise<Office> {
  const folder = makeFolder()
  const keyFile = join(folder, 'instance.key')
  writeFileSync(keyFile, newKeyFile())
  chmodSync(keyFile, 0o600)
  const [cluster, bucket] = await Promise.all([startCluster(options), openTestBucket()])
  const environment = ({ port }: Pick<FaultProxy, 'port'>) => ({
    ONCEBOX_DATABASE_URL: cluster.address(port),
    ONCEBOX_FILES_URL: bucket.url,
    ONCEBOX_KEY_FILE: keyFile,
    ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  })
  const nodes = await Promise.all(
    Array.from({ length: options.nodes }, async (_, n) => {
      const proxy = await startFaultProxy(cluster.port)
      const env = { ...environment(proxy), ...options.environmentOf?.(n) }
      return createNode({
        name: `node ${n + 1}`,
        dataDir: join(folder, `${n}`),
        ...{ proxy, env },
        flags: options.flags,
      })
    }),
  )

  async function close(): Promise<void> {
    await Promise.all(nodes.map((node) => node.end('SIGKILL')))
    await Promise.all(nodes.map(({ proxy }) => proxy.close()))
    await Promise.all([cluster.remove(), bucket.close()])
    removeFolder(folder)
  }

  async function command(args: string[], input = ''): Promise<Ended> {
    const flags = ['--data-dir', join(folder, 'commands')]
    const env = { ...environment(nodes[0]?.proxy ?? cluster), ...options.environmentOf?.(0) }
    const ended = await runBinary([...args, ...flags], { input, env })
    if (ended.code !== 0) throw new Error(`oncebox ${args.join(' ')}: ${ended.stderr}${ended.stdout}`)
    return ended
  }

  try {
    for (const node of nodes) await node.start()
    await command(['user', 'add', ACCOUNT.email, '--password-stdin'], `${ACCOUNT.password}\n`)
    const { stdout } = await command(['token', 'create', ACCOUNT.email])
    const auth = { authorization: `Bearer ${stdout.trim()}` }
    return { nodes, cluster, bucket, account: ACCOUNT, auth, command, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

type NodeOptions = {
  name: string
  dataDir: string
  proxy: FaultProxy
  env: Record<string, string>
  flags: readonly string[] | undefined
}

function createNode({ name, dataDir, proxy, env, flags = [] }: NodeOptions): Node {
  const node: Node = {
    name,
    server: null,
    proxy,
    start: async (binary) => {
      const options = { dataDir, env, flags: [...flags], ...(binary === undefined ? {} : { binary }) }
      const server = await startBinary(options)
      node.server = server
      return server
    },
    end: async (signal) => {
      const { server } = node
      node.server = null
      await server?.end(signal)
    },
  }
  return node
}
