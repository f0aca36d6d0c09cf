// The programs of the PostgreSQL that tests start: the newest of Debian's packages, or those of ONCEBOX_TEST_POSTGRES_BIN.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of `initdb` and `postgres`, or null where PostgreSQL is not installed. */
export function findPostgres(): string | null {
  const given = process.env.ONCEBOX_TEST_POSTGRES_BIN
  if (given !== undefined) return requireProgram(given)
  const [initdb] = [...new Bun.Glob('/usr/lib/postgresql/*/bin/initdb').scanSync('/')].sort().reverse()
  return initdb?.slice(0, -'/initdb'.length) ?? null
}

/** Whoever asks for a version must not see its tests skipped. */
function requireProgram(folder: string): string {
  if (existsSync(join(folder, 'initdb'))) return folder
  throw new Error(`ONCEBOX_TEST_POSTGRES_BIN=${folder} holds no initdb`)
}
