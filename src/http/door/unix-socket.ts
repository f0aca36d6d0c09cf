// Listening on a Unix socket: `unix:/run/oncebox/http.sock` in place of an address.

import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'

const PREFIX = 'unix:'
/**
 * Lets the server's group connect, which includes the proxy. The umask of the process would allow only the
 * server's user.
 */
const MODE = 0o660

export function isUnixHost(host: string): boolean {
  return host.startsWith(PREFIX)
}

export function socketPath(host: string): string {
  return host.slice(PREFIX.length)
}

/**
 * Removes the socket that a crashed server left behind. Throws `conflict` if another program listens on it,
 * or if the path is not a socket.
 */
export async function removeStaleSocket(host: string): Promise<void> {
  const path = socketPath(host)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket())
    throw new DomainError('conflict', `${path} is no socket: remove it, or choose another --host.`)
  if (await isListenedOn(path))
    throw new DomainError(
      'conflict',
      `Another program listens on ${path}: stop it, or choose another --host.`,
    )
  removeSocket(host)
}

/** Whether a program listens on the path. Only ECONNREFUSED proves that none does. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (cause) => resolve(codeOf(cause) !== 'ECONNREFUSED'))
  })
}

export function openToGroup(host: string): void {
  chmodSync(socketPath(host), MODE)
}

export function removeSocket(host: string): void {
  rmSync(socketPath(host), { force: true })
}
