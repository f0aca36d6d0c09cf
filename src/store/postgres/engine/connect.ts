// Opens connections to the PostgreSQL server of an address, and says in sentences why it cannot.

import { SQL } from 'bun'
import type { DatabaseAddress } from '../../../domain/database-address.ts'
import { type ClientOptions, databaseClientOptions, isLoopback } from '../../../domain/database-client.ts'
import { explainServerFailure, type ServerPurpose } from '../../../domain/database-failures.ts'
import type { Connect } from './connection.ts'

const CONNECT_SECONDS = 5

/** Throws the error of the system when a PEM file cannot be read. Nothing is opened yet. */
export function connectTo(options: ClientOptions): Connect {
  const client = databaseClientOptions(options)
  return (max, onclose) =>
    new SQL({
      ...client,
      max,
      connectionTimeout: CONNECT_SECONDS,
      ...(onclose === undefined ? {} : { onclose }),
    })
}

const SERVE: ServerPurpose = {
  passwordPlaces: 'in a file (ONCEBOX_DATABASE_PASSWORD_FILE), or in ONCEBOX_DATABASE_PASSWORD or PGPASSWORD',
  unreachable: 'nothing answers there; the server must run, listen there, and be reachable from here',
  mayNotRead: 'the user may not use its tables; make the user the owner of the database',
  ending: '',
}

/** What is neither an error of the client nor of the server is returned as it is. */
export function explainConnectFailure(address: DatabaseAddress, cause: unknown): unknown {
  return explainServerFailure({ address, purpose: SERVE }, cause)
}

/** What an operator should know about the TLS mode of an address; null for one that leaves nothing open. */
export function warnAboutTls({ socket, host, tls }: DatabaseAddress): string | null {
  if (socket !== null || isLoopback(host) || tls.mode === 'verify-full') return null
  return `The connection to PostgreSQL at ${host} ${WEAKNESSES[tls.mode]}: use sslmode=verify-full, and sslrootcert for an authority of your own.`
}

const WEAKNESSES = {
  disable: 'is not encrypted (sslmode=disable), so the network between must belong to you alone',
  prefer:
    'is encrypted only when nobody in between prevents it (sslmode=prefer), and does not check who answers',
  require: 'is encrypted, but does not check who answers (sslmode=require)',
  'verify-ca': 'does not check the name of the server, only its authority (sslmode=verify-ca)',
  'verify-full': '',
}
