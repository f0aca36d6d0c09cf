// Opens connections to the server of --database-url.

import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { SQL } from 'bun'
import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { conflict, type DomainError } from '../../../domain/errors.ts'
import { reasonOf } from '../../../domain/system-errors.ts'
import { isLoopback } from '../../../text/local-names.ts'
import { databaseClientOptions } from '../client-options.ts'
import { CLIENT_OPTIONS, type Connect } from '../engine/session.ts'

const CONNECT_SECONDS = 10

/**
 * Creates a function that connects. Reads the PEM files of the address once; throws `conflict` if one is
 * unreadable or of the wrong type.
 */
export function connectTo(address: DatabaseAddress): Connect {
  const { ca, cert, key } = address.tls
  const readFile = (path: string) => readPem(path, address)
  const options = databaseClientOptions(address, readFile)
  const { tls = {} }: { tls?: ConnectionOptions } = options
  try {
    // Check the files now: the client would report a bad one only when it connects, and without its name.
    createSecureContext(tls)
  } catch (cause) {
    const paths = [ca, cert, key].filter((path) => path !== null).join(', ')
    throw unfit(address, `${paths}: ${UNFIT} (${reasonOf(cause)})`)
  }
  return (max, onclose) =>
    new SQL({
      ...options,
      ...CLIENT_OPTIONS,
      max,
      connectionTimeout: CONNECT_SECONDS,
      ...(onclose === undefined ? {} : { onclose }),
    })
}

const UNFIT = 'needed are certificates in PEM, and the key of sslcert without a password'

/** Returns a warning about the TLS mode of an address; null if the connection is safe. */
export function warnAboutTls({ host, socket, tls: { mode } }: DatabaseAddress): string | null {
  if (socket !== null || isLoopback(host) || mode === 'verify-full') return null
  return (
    `Somebody between this machine and PostgreSQL at ${host} may be able to read and change what is sent (sslmode=${mode}). Use ` +
    'sslmode=verify-full, with sslrootcert for an authority of your own.'
  )
}

function readPem(path: string, address: DatabaseAddress): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw unfit(address, `${path}, which the address names, cannot be read: ${reasonOf(cause)}`)
  }
}

function unfit(address: DatabaseAddress, why: string): DomainError {
  return conflict(`${presentDatabaseAddress(address)}: ${why}.`)
}
