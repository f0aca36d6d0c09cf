// The options of Bun's client for the address of a database server. Pure: files are read by the caller's
// function.

import type { DatabaseAddress } from '../../domain/database-address.ts'
import { isLoopback } from '../../text/local-names.ts'

/** Reads a PEM file that an address names. */
export type ReadFile = (path: string) => string

/**
 * Returns the options of Bun's client. Sets every one, because Bun would take missing ones from variables
 * that may mean another database. Connections stay open until they are closed: Bun's limits would end them in
 * the middle of a query.
 */
export function databaseClientOptions(address: DatabaseAddress, readFile: ReadFile) {
  const { engine, host, port, socket, user, password, database, tls } = address
  return {
    url: `${engine}://${engine}/?sslmode=${tls.mode}`,
    adapter: engine,
    hostname: host === '' ? 'localhost' : host,
    port,
    ...(socket === null ? {} : { path: socket }),
    ...(user === null ? {} : { username: user }),
    // In place of an empty text Bun would take PGPASSWORD; in place of this it does not.
    password: () => password ?? '',
    database,
    ...tlsOptions(tls, readFile),
    ...(engine === 'mysql' ? { allowPublicKeyRetrieval: isLoopback(host) } : {}),
    idleTimeout: 0,
    maxLifetime: 0,
  }
}

function tlsOptions(tls: DatabaseAddress['tls'], readFile: ReadFile) {
  const read = (path: string | null) => (path === null ? undefined : readFile(path))
  const isVerified = tls.mode === 'verify-ca' || tls.mode === 'verify-full'
  const files = { ca: read(tls.ca), cert: read(tls.cert), key: read(tls.key) }
  const given = Object.fromEntries(Object.entries(files).filter(([, pem]) => pem !== undefined))
  if (!isVerified && Object.keys(given).length === 0) return {}
  return { tls: { ...given, rejectUnauthorized: isVerified } }
}
