// Opens connections to the server of --database-url.

import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { databaseClientOptions, isLoopback } from '../../../domain/database-client.ts'
import { DomainError } from '../../../domain/errors.ts'
import { reasonOf } from '../../../domain/system-errors.ts'
import type { Connect } from '../engine/connection.ts'

const CONNECT_SECONDS = 10

/** Reads the PEM files of the address once. Throws `conflict` when one cannot be read. */
export function connectTo(address: DatabaseAddress): Connect {
  const options = databaseClientOptions({
    address,
    password: null,
    readFile: (path) => readPem(path, address),
  })
  return (max, onclose) =>
    new SQL({
      ...options,
      max,
      connectionTimeout: CONNECT_SECONDS,
      ...(onclose === undefined ? {} : { onclose }),
    })
}

/** What an operator should know about the TLS mode of an address; null when it leaves nothing open. */
export function warnAboutTls({ socket, host, tls }: DatabaseAddress): string | null {
  if (socket !== null || isLoopback(host) || tls.mode === 'verify-full') return null
  return `The connection to PostgreSQL at ${host} ${WEAKNESSES[tls.mode]}. ${STRONG}`
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
    throw new DomainError(
      'conflict',
      `${presentDatabaseAddress(address)}: ${path}, which the address names, cannot be read: ${reasonOf(cause)}.`,
    )
  }
}
