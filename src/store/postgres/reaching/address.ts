// Opens connections to the server of --database-url.

import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { SQL } from 'bun'
import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { databaseClientOptions, isLoopback } from '../../../domain/database-client.ts'
import { DomainError } from '../../../domain/errors.ts'
import { reasonOf } from '../../../domain/system-errors.ts'
import { type Connect, SESSION_SETTINGS } from '../engine/session.ts'

const CONNECT_SECONDS = 10

/** Reads the PEM files of the address once. Throws `conflict` when one cannot be read, or they are of another kind. */
export function connectTo(address: DatabaseAddress): Connect {
  const { ca, cert, key } = address.tls
  const readFile = (path: string) => readPem(path, address)
  const options = databaseClientOptions({ address, password: null, readFile })
  const { tls = {} }: { tls?: ConnectionOptions } = options
  try {
    // The client would tell of an unfit file only when it connects, and without its name.
    createSecureContext(tls)
  } catch (cause) {
    const paths = [ca, cert, key].filter((path) => path !== null).join(', ')
    throw unfit(address, `${paths}: ${UNFIT} (${reasonOf(cause)})`)
  }
  return (max, onclose) =>
    new SQL({
      ...options,
      connection: SESSION_SETTINGS,
      max,
      connectionTimeout: CONNECT_SECONDS,
      ...(onclose === undefined ? {} : { onclose }),
    })
}

const UNFIT = 'needed are certificates in PEM, and the key of sslcert without a password'

/** What an operator should know about the TLS mode of an address; null when it leaves nothing open. */
export function warnAboutTls(address: DatabaseAddress): string | null {
  const { host, socket, tls } = address
  const { mode } = tls
  if (socket !== null || isLoopback(host) || mode === 'verify-full') return null
  return `The connection to PostgreSQL at ${host} ${WEAKNESSES[mode]}. ${STRONG}`
}

const STRONG = 'Use sslmode=verify-full, with sslrootcert for an authority of your own.'
const WEAKNESSES = {
  disable: 'is not encrypted (sslmode=disable), so nobody else may reach the network in between',
  prefer: 'is encrypted only while nobody in between prevents it, and trusts any server (sslmode=prefer)',
  require: 'is encrypted, but trusts any server (sslmode=require)',
  'verify-ca': 'trusts any server that the authority vouches for, whatever its name (sslmode=verify-ca)',
}

function readPem(path: string, address: DatabaseAddress): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw unfit(address, `${path}, which the address names, cannot be read: ${reasonOf(cause)}`)
  }
}

function unfit(address: DatabaseAddress, why: string): DomainError {
  return new DomainError('conflict', `${presentDatabaseAddress(address)}: ${why}.`)
}
