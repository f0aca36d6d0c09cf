// Ceph's gateway with a cluster of one monitor and one in-memory object store, each on loopback.

import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'

export type Daemons = { end(): Promise<void> }
export type Keys = { accessKeyId: string; secretAccessKey: string }
export type RadosgwOptions = {
  folder: string
  ports: { monitor: number; gateway: number }
  keys: Keys
}

const ALONE_MS = 60_000
const STORE_BYTES = 8 * 1024 ** 3
/** The monitor requires a key, although no client needs it. */
const MONITOR_KEY = `[mon.]
	key = AQBgIGFnAAAAABAA3c1k8l0qgPp5bQ0y1Gg0Ow==
	caps mon = "allow *"
`

/** Starts the gateway, which answers once it has created its pools. Throws when a program fails. */
export async function startRadosgw({ folder, ports, keys }: RadosgwOptions): Promise<Daemons> {
  const cluster = randomUUID()
  const store = randomUUID()
  for (const name of ['mon', 'osd', 'run']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'keyring'), MONITOR_KEY)
  writeFileSync(join(folder, 'ceph.conf'), describeCluster(folder, { cluster, port: ports.monitor }))
  const daemons: Subprocess[] = []
  const end = async () => {
    for (const daemon of daemons.toReversed()) daemon.kill('SIGTERM')
    await Promise.all(daemons.map(({ exited }) => exited))
  }
  const start = (command: string[]) => daemons.push(startDaemon(folder, command))
  try {
    const monitor = `[v2:127.0.0.1:${ports.monitor}]`
    await run(folder, ['monmaptool', '--create', '--fsid', cluster, '--addv', 'a', monitor, 'monmap'])
    await ceph(folder, ['ceph-mon', '-i', 'a', '--mkfs', '--monmap', 'monmap', '--keyring', 'keyring'])
    start(['ceph-mon', '-i', 'a', '-f'])
    await ceph(folder, ['ceph', 'osd', 'new', store])
    await ceph(folder, ['ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', store])
    start(['ceph-osd', '-i', '0', '-f'])
    start(['radosgw', '-n', 'client.rgw', '-f', `--rgw_frontends=beast endpoint=127.0.0.1:${ports.gateway}`])
    const { accessKeyId, secretAccessKey } = keys
    const user = ['--uid=oncebox', '--display-name=Oncebox']
    const secrets = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`]
    await ceph(folder, ['radosgw-admin', 'user', 'create', ...user, ...secrets])
  } catch (cause) {
    await end()
    throw cause
  }
  return { end }
}

function startDaemon(folder: string, command: string[]): Subprocess {
  const log = Bun.file(join(folder, `${command[0]}.out`))
  const child = Bun.spawn(withSettings(command), { cwd: folder, stdio: ['ignore', log, log] })
  process.on('exit', () => child.kill('SIGKILL'))
  return child
}

/** Waits for the cluster until a deadline. */
function ceph(folder: string, command: string[]): Promise<void> {
  return run(folder, withSettings(command))
}

function withSettings([program = '', ...words]: string[]): string[] {
  return [program, '-c', 'ceph.conf', ...words]
}

async function run(folder: string, command: string[]): Promise<void> {
  const child = Bun.spawn(command, {
    ...{ cwd: folder, timeout: ALONE_MS, stdio: ['ignore', 'ignore', 'pipe'] },
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`)
}

type Cluster = { cluster: string; port: number }

function describeCluster(folder: string, { cluster, port }: Cluster): string {
  const unproven = ['cluster', 'service', 'client'].map((of) => `auth_${of}_required = none`)
  const plain = ['mon_client', 'mon_service', 'mon_cluster', 'cluster', 'service', 'client']
  const places = ['admin_socket = run/$name.asok', 'pid_file = run/$name.pid', 'log_file = run/$name.log']
  return [
    '[global]',
    `fsid = ${cluster}`,
    `mon_host = v2:127.0.0.1:${port}`,
    'mon_initial_members = a',
    ...['public_addr = 127.0.0.1', 'cluster_addr = 127.0.0.1'],
    ...unproven,
    ...plain.map((of) => `ms_${of}_mode = crc`),
    ...['osd_pool_default_size = 1', 'osd_pool_default_min_size = 1', 'mon_allow_pool_size_one = true'],
    ...['osd_crush_chooseleaf_type = 0', 'osd_pool_default_pg_num = 1', 'osd_pool_default_pgp_num = 1'],
    'osd_pool_default_pg_autoscale_mode = off',
    ...['osd_objectstore = memstore', `memstore_device_bytes = ${STORE_BYTES}`],
    ...places.map((line) => line.replace('run/', `${folder}/run/`)),
    ...['run_dir', 'crash_dir'].map((name) => `${name} = ${folder}/run`),
    ...['mon', 'osd'].map((name) => `${name}_data = ${folder}/${name}`),
    `keyring = ${folder}/keyring`,
    ...['mon_data_avail_crit = 1', 'mon_data_avail_warn = 1'],
    '',
  ].join('\n')
}
