// The settings of the database server, as the store takes them.

import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { databaseUrl } from './database-parsers.ts'
import type { GivenFlags } from './setting.ts'
import type { Config } from './table.ts'

export type DatabaseConfig = Pick<
  Config,
  'databaseUrl' | 'databasePassword' | 'databaseConnections' | 'keyFile'
>

export type DatabaseSettings = {
  /** With the password, wherever that was given. */
  address: DatabaseAddress
  keyFile: string
  /** Most connections at once. */
  connections: number
}

/** Null when the database is in the data folder. */
export function databaseSettingsOf(config: DatabaseConfig): DatabaseSettings | null {
  const { keyFile, databaseConnections: connections } = config
  const address = databaseAddressOf(config)
  return address === null || keyFile === null ? null : { address, keyFile, connections }
}

/** With the password, wherever that was given. Null when the database is in the data folder. */
export function databaseAddressOf({
  databaseUrl,
  databasePassword,
}: Pick<DatabaseConfig, 'databaseUrl' | 'databasePassword'>): DatabaseAddress | null {
  return databaseUrl && { ...databaseUrl, password: databasePassword ?? databaseUrl.password }
}

/** For people: server and database, without the login. Null when the database is in the data folder. */
export function nameDatabase({ databaseUrl }: Pick<DatabaseConfig, 'databaseUrl'>): string | null {
  return databaseUrl && presentDatabaseAddress(databaseUrl)
}

/** What is missing beside --database-url, a sentence each. */
export function databaseProblemsIn({ databaseUrl, keyFile }: DatabaseConfig): string[] {
  return databaseUrl === null || keyFile !== null ? [] : [KEY_IS_MISSING]
}

const KEY_IS_MISSING =
  '--database-url needs --key-file: all nodes need the same instance key, which a data folder would keep for itself. Make the file ' +
  'once with "oncebox key new FILE", copy it to each node, and keep a copy apart from the database'

/** Other users of a machine see the arguments of its processes. */
export function databaseWarnings(flags: GivenFlags): string[] {
  const parsed = databaseUrl(flags['database-url']?.at(-1) ?? '')
  if ('problem' in parsed || parsed.value.password === null) return []
  return [
    'while the password stands in --database-url, other users of this machine may see it: ONCEBOX_DATABASE_PASSWORD_FILE or ' +
      'ONCEBOX_DATABASE_URL_FILE hides it',
  ]
}
