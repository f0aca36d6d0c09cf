// Converts the settings of the database server to the options of the store.

import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { databaseUrl } from './database-parsers.ts'
import type { GivenFlags } from './setting.ts'
import type { Config } from './table.ts'

export type DatabaseConfig = Pick<
  Config,
  'databaseUrl' | 'databasePassword' | 'databaseConnections' | 'keyFile'
>

export type DatabaseSettings = NonNullable<ReturnType<typeof databaseSettingsOf>>

/**
 * Returns null when the database is in the data folder. `address` includes the password, wherever it was
 * given; `connections` is the largest size of the connection pool.
 */
export function databaseSettingsOf(config: DatabaseConfig) {
  const { keyFile, databaseConnections: connections } = config
  const address = databaseAddressOf(config)
  return address === null || keyFile === null ? null : { address, keyFile, connections }
}

/** Returns the address with the password, or null when the database is in the data folder. */
export function databaseAddressOf({
  databaseUrl,
  databasePassword,
}: Pick<DatabaseConfig, 'databaseUrl' | 'databasePassword'>): DatabaseAddress | null {
  return databaseUrl && { ...databaseUrl, password: databasePassword ?? databaseUrl.password }
}

/** Names server and database for messages, without the login. Returns null for a data folder. */
export function nameDatabase({ databaseUrl }: Pick<DatabaseConfig, 'databaseUrl'>): string | null {
  return databaseUrl && presentDatabaseAddress(databaseUrl)
}

/** Returns a sentence for each setting that --database-url needs and that is missing. */
export function databaseProblemsIn({ databaseUrl, keyFile }: DatabaseConfig): string[] {
  return databaseUrl === null || keyFile !== null ? [] : [KEY_IS_MISSING]
}

const KEY_IS_MISSING =
  '--database-url needs --key-file: all nodes share one instance key, so it cannot stay in one data folder. Make the file ' +
  'once with "oncebox key new FILE", copy it to each node, and keep a copy apart from the database'

/** Warns of a password in the flag, because other users of the machine can see a process's arguments. */
export function databaseWarnings(flags: GivenFlags): string[] {
  const parsed = databaseUrl(flags['database-url']?.at(-1) ?? '')
  if ('problem' in parsed || parsed.value.password === null) return []
  return [
    'the password is in --database-url, where other users of this machine can see it: use ONCEBOX_DATABASE_PASSWORD_FILE or ' +
      'ONCEBOX_DATABASE_URL_FILE',
  ]
}
