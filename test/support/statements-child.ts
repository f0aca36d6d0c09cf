// Prints the texts of all statements that the store creates for an engine, as JSON. Runs in a separate
// process, because tests create statements too.

import { join } from 'node:path'
import { Glob } from 'bun'
import { STATEMENT_TEXTS } from '../../src/store/statements.ts'

const STORE = join(import.meta.dir, '../../src/store')
/** The entry modules of the statements that only one engine runs. */
const ONLY = {
  sqlite: /^(postgres\/|opening\/(postgres-store|server-database|copy-ends)\.ts)/,
  postgres: /^(sqlite\/|opening\/(sqlite|folder|restored|backup|copy-ends))/,
}
const engine = process.argv[2] === 'postgres' ? 'postgres' : 'sqlite'

for (const path of new Glob('**/*.ts').scanSync(STORE))
  if (!ONLY[engine].test(path)) await import(join(STORE, path))
process.stdout.write(JSON.stringify([...new Set(STATEMENT_TEXTS)]))
