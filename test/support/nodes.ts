// Several nodes of the compiled binary with one PostgreSQL server and one bucket, and proxies between them that fail on command.

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
  /** A second server, which the address of the nodes names as well. */
  standby?: 'synchronous' | 'asynchronous'
  /** Whether commits wait for a real disk. */
  isDurable: boolean
  /** Variables of one node, such as those of a clock that is wrong. */
  environmentOf?: (node: number) => Record<string, string>
  /** On top of those of every node. */
  flags?: readonly string[]
}

export type Node = {
  name: string
  /** Null while it does not run. */
  server: Started | null
  /** Between it and the database. */
  proxy: FaultProxy
  /** Between it and each server of its address; the first one is `proxy`. */
  proxies: readonly FaultProxy[]
  /** Starts it, with another build of the binary where one is named. */
  start(binary?: string): Promise<Started>
  end(signal: Signal): Promise<void>
}

export type Office = {
  nodes: readonly Node[]
  cluster: Cluster
  /** Null unless the options name one. `link`: through which it follows the cluster. */
  standby: { server: Cluster; link: FaultProxy } | null
  bucket: TestBucket
  /** What a sign-in asks for, and headers with an API token. */
  account: { email: string; password: string }
  auth: { authorization: string }
  /** A command beside the nodes, such as `user list`, through the proxies of the first. */
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
  const standby = options.standby === undefined ? null : await follow(cluster, options.standby)
  const environment = (proxies: readonly FaultProxy[]) => ({
    ONCEBOX_DATABASE_URL: cluster.address(...proxies.map(({ port }) => port)),
    ONCEBOX_FILES_URL: bucket.url,
    ONCEBOX_KEY_FILE: keyFile,
    ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  })
  const nodes = await Promise.all(
    Array.from({ length: options.nodes }, async (_, n) => {
      const proxy = await startFaultProxy(cluster.port)
      const others = standby === null ? [] : [await startFaultProxy(standby.server.port)]
      const proxies = [proxy, ...others]
      const env = { ...environment(proxies), ...options.environmentOf?.(n) }
      return createNode({
        name: `node ${n + 1}`,
        dataDir: join(folder, `${n}`),
        ...{ proxy, proxies, env },
        flags: options.flags,
      })
    }),
  )

  async function close(): Promise<void> {
    await Promise.all(nodes.map((node) => node.end('SIGKILL')))
    await Promise.all(nodes.flatMap(({ proxies }) => proxies.map((proxy) => proxy.close())))
    await Promise.all([cluster.remove(), standby?.server.remove(), bucket.close()])
    await standby?.link.close()
    removeFolder(folder)
  }

  async function command(args: string[], input = ''): Promise<Ended> {
    const flags = ['--data-dir', join(folder, 'commands')]
    const env = { ...environment(nodes[0]?.proxies ?? []), ...options.environmentOf?.(0) }
    const ended = await runBinary([...args, ...flags], { input, env })
    if (ended.code !== 0) throw new Error(`oncebox ${args.join(' ')}: ${ended.stderr}${ended.stdout}`)
    return ended
  }

  try {
    for (const node of nodes) await node.start()
    await command(['user', 'add', ACCOUNT.email, '--password-stdin'], `${ACCOUNT.password}\n`)
    const { stdout } = await command(['token', 'create', ACCOUNT.email])
    const auth = { authorization: `Bearer ${stdout.trim()}` }
    return { nodes, cluster, standby, bucket, account: ACCOUNT, auth, command, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

async function follow(cluster: Cluster, how: NonNullable<OfficeOptions['standby']>) {
  const link = await startFaultProxy(cluster.port)
  const server = await cluster.addStandby({ isSynchronous: how === 'synchronous', through: link.port })
  return { server, link }
}

type NodeOptions = {
  name: string
  dataDir: string
  proxy: FaultProxy
  proxies: readonly FaultProxy[]
  env: Record<string, string>
  flags: readonly string[] | undefined
}

function createNode({ name, dataDir, proxy, proxies, env, flags = [] }: NodeOptions): Node {
  const node: Node = {
    name,
    server: null,
    proxy,
    proxies,
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
