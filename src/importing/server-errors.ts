// What can go wrong with another server's database server, as sentences for the operator of an import.

import type { DatabaseAddress } from '../domain/database-address.ts'
import { explainServerFailure, type ServerPurpose } from '../domain/database-failures.ts'

const IMPORT: ServerPurpose = {
  passwordPlaces: 'in a file (--database-password-file), or in PGPASSWORD or MYSQL_PWD',
  unreachable:
    'nothing answers there. The old server must be stopped, but its database server must run, and be reachable from here',
  mayNotRead: 'the user may not read its tables; give the one that the old server uses',
  ending: 'Nothing was imported.',
}

/** What is neither an error of the client nor of the server is returned as it is. */
export function explainServer(address: DatabaseAddress, cause: unknown): unknown {
  return explainServerFailure({ address, purpose: IMPORT }, cause)
}
