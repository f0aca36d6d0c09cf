// Opens connections to the server of --database-url.

import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { DomainError } from '../../../domain/errors.ts'
import { reasonOf } from '../../../domain/system-errors.ts'
import type { Connect } from './connection.ts'
import { SCHEMA } from './migrate.ts'

const CONNECT_SECONDS = 10

/** Reads the PEM files of the address once. Throws `conflict` when one cannot be read. */
export function connectTo(address: DatabaseAddress): Connect {
  const options = optionsOf(address)
  return (max, onclose) => new SQL({ ...options, max, ...(onclose === undefined ? {} : { onclose }) })
}

/** Names every option, because Bun would take what is left out from variables that mean another database. */
function optionsOf(address: DatabaseAddress): Bun.SQL.PostgresOrMySQLOptions {
  const { host, port, socket, user, password, database, tls } = address
  const isVerified = tls.mode === 'verify-ca' || tls.mode === 'verify-full'
  const pems = Object.fromEntries(
    (['ca', 'cert', 'key'] as const).flatMap((name) => {
      const path = tls[name]
      return path === null ? [] : [[name, readPem(path, address)]]
    }),
  )
  const hasTls = isVerified || Object.keys(pems).length > 0
  return {
    url: `postgres://postgres/?sslmode=${tls.mode}`,
    adapter: 'postgres',
    hostname: host === '' ? 'localhost' : host,
    port,
    ...(socket === null ? {} : { path: socket }),
    ...(user === null ? {} : { username: user }),
    password: password ?? '',
    database,
    ...(hasTls ? { tls: { ...pems, rejectUnauthorized: isVerified } } : {}),
    connection: { application_name: 'oncebox', search_path: SCHEMA },
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: CONNECT_SECONDS,
  }
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
