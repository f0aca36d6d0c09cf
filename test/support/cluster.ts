// A PostgreSQL server of Debian's packages that tests can stop, start and freeze. Unlike those of
// database-servers.ts, its commits are synchronous, as Oncebox demands.

import { chownSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { fastPlace } from '../../scripts/fast-folder.ts'
import { findPostgres } from '../../scripts/programs.ts'
import { freePort } from './free-port.ts'
import { signalTree } from './process-tree.ts'

export type Cluster = {
  port: number
  folder: string
  /** Returns an address for `--database-url`. `through`: the port of a proxy. */
  address(through?: number): string
  /** Starts the server. Resolves once it answers. */
  start(): Promise<void>
  /**
   * Stops the server: `immediate` is a crash, `fast` an orderly stop, `kill` ends each process with kill -9.
   */
  stop(how: 'immediate' | 'fast' | 'kill'): Promise<void>
  /** Suspends all its processes until it is thawed. Its connections stay open. */
  freeze(): void
  thaw(): void
  /** Runs statements in the database of Oncebox, as the superuser. */
  run<Row>(text: string, database?: string): Promise<Row[]>
  remove(): Promise<void>
}

export type ClusterOptions = {
  /**
   * Whether its folder is on a disk; false (in memory) for tests that only need speed. Commits are
   * synchronous in any case.
   */
  isDurable: boolean
  /** The parent of its folder, if not the system's temporary folder. */
  parent?: string
  /** Lines such as `shared_buffers=1GB`. */
  config?: readonly string[]
}

const PASSWORD = 'loopback only'
const START_MS = 180_000
const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8', PGPASSWORD: PASSWORD }

/** Creates and starts a server with an empty database `oncebox`, owned by a user of that name. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = makeFolder(options)
  const auth = ['-A', 'scram-sha-256', `--pwfile=${join(folder, 'password')}`]
  await Bun.write(join(folder, 'password'), PASSWORD)
  await runAsServer([
    'initdb',
    '-D',
    dataOf(folder),
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '-k',
    ...auth,
  ])
  const cluster = clusterIn(folder, options)
  await cluster.start()
  await cluster.run(`CREATE ROLE oncebox LOGIN PASSWORD '${PASSWORD}'`, 'postgres')
  await cluster.run('CREATE DATABASE oncebox OWNER oncebox', 'postgres')
  return cluster
}

function clusterIn(folder: string, options: ClusterOptions): Cluster {
  const port = freePort()
  let child: Bun.Subprocess | null = null
  const end = () => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', end)

  async function start(): Promise<void> {
    const flags = (options.config ?? []).flatMap((line) => ['-c', line])
    const command = [
      'postgres',
      '-D',
      dataOf(folder),
      '-p',
      `${port}`,
      '-k',
      folder,
      '-h',
      '127.0.0.1',
      ...flags,
    ]
    const log = Bun.file(join(folder, 'log'))
    child = Bun.spawn(asServer(command), { stdio: ['ignore', log, log], env: ENV })
    await untilItAnswers(child)
  }

  async function untilItAnswers(server: Bun.Subprocess): Promise<void> {
    const until = performance.now() + START_MS
    for (;;) {
      try {
        await run('SELECT 1', 'postgres')
        return
      } catch (cause) {
        if (server.exitCode !== null || performance.now() > until)
          throw new Error(`PostgreSQL did not start: ${cause}\n${await Bun.file(join(folder, 'log')).text()}`)
        await Bun.sleep(50)
      }
    }
  }

  async function run<Row>(text: string, database = 'oncebox'): Promise<Row[]> {
    const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}?sslmode=disable`
    const sql = new SQL({ url, max: 1, connectionTimeout: 60 })
    try {
      return await sql.unsafe(text).simple()
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  async function stop(how: 'immediate' | 'fast' | 'kill'): Promise<void> {
    if (how === 'kill') signal('SIGKILL')
    else child?.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
    await child?.exited
  }

  function signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (child?.exitCode === null && child.signalCode === null) signalTree(child.pid, name)
  }

  return {
    port,
    folder,
    address: (through = port) =>
      `postgres://oncebox:${encodeURIComponent(PASSWORD)}@127.0.0.1:${through}/oncebox?sslmode=disable`,
    start,
    stop,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    run,
    remove: async () => {
      signal('SIGCONT')
      child?.kill('SIGQUIT')
      await child?.exited
      process.off('exit', end)
      end()
    },
  }
}

const dataOf = (folder: string) => join(folder, 'data')

/** PostgreSQL refuses to run as root. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.geteuid?.() !== 0) return null
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, 'postgres']).stdout.toString())
  return { uid: id('-u'), gid: id('-g') }
}

function asServer([program = '', ...flags]: readonly string[]): string[] {
  const user = serverUser()
  const change = user === null ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
  return ['setpriv', '--pdeathsig', 'KILL', ...change, `${findPostgres()}/${program}`, ...flags]
}

const runAsServer = (command: readonly string[]) => runToEnd(asServer(command))

async function runToEnd(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdio: ['ignore', 'pipe', 'pipe'], env: ENV })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${out}\n${err}`)
}

let made = 0

function makeFolder({ isDurable, parent }: ClusterOptions): string {
  made += 1
  const folder = join(
    parent ?? (isDurable ? tmpdir() : fastPlace()),
    `oncebox-cluster-${process.pid}-${made}`,
  )
  mkdirSync(folder, { mode: 0o755 })
  const user = serverUser()
  if (user !== null) chownSync(folder, user.uid, user.gid)
  return folder
}
