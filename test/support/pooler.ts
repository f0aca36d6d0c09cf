// PgBouncer as Debian packages it, in front of a PostgreSQL server of the tests.

import { chownSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFastFolder } from '../../scripts/fast-folder.ts'
import type { DatabaseServer } from './database-servers.ts'
import { freePort } from './free-port.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'
export type Pooler = { port: number; stop(): Promise<void> }

export function findPooler(): string | null {
  return Bun.which('pgbouncer', { PATH: `${process.env.PATH ?? ''}:/usr/sbin` })
}

/** Resolves once it listens. */
export async function startPooler(server: DatabaseServer, mode: PoolMode): Promise<Pooler> {
  const folder = makeFastFolder('oncebox-pooler-')
  const port = freePort()
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const users = file('users', `"${server.user}" "${server.password.replaceAll('"', '""')}"\n`)
  const config = file(
    'config',
    ['[databases]', `* = host=127.0.0.1 port=${server.port}`, '[pgbouncer]', 'listen_addr = 127.0.0.1']
      .concat([`listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = plain', `auth_file = ${users}`])
      .concat([`pool_mode = ${mode}`, 'ignore_startup_parameters = extra_float_digits', ''])
      .join('\n'),
  )
  const child = Bun.spawn([...asOther([folder, users, config]), findPooler() ?? '', '-q', config], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer did not start: ${child.exitCode}`)
    await Bun.sleep(50)
  }
  return {
    port,
    stop: async () => {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** It refuses to run as root. */
function asOther(paths: string[]): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  if (process.geteuid?.() !== 0) return prefix
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, 'postgres']).stdout.toString())
  for (const path of paths) chownSync(path, id('-u'), id('-g'))
  return [...prefix, `--reuid=${id('-u')}`, `--regid=${id('-g')}`, '--clear-groups']
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: { data: () => undefined },
    })
    socket.end()
    return true
  } catch {
    return false
  }
}
