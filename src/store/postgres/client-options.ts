// The options of Bun's client for the address of a database server. Pure: files are read by the caller's
// function.

import type { DatabaseAddress } from '../../domain/database-address.ts'
import { isLoopback } from '../../text/local-names.ts'

/** Reads a PEM file that an address names. */
export type ReadFile = (path: string) => string

/**
 * Returns the options of Bun's client. Sets all of them, because Bun takes missing ones from environment
 * variables, which may name another database. Turns off Bun's limits on connections, which would close them
 * in the middle of a query.
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
    // Pass a function: Bun would replace an empty string by PGPASSWORD.
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
