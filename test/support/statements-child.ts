// Prints the texts of all statements that the store makes for SQLite, as JSON. Runs in a process of its own,
// because tests make statements too.

import { join } from 'node:path'
import { Glob } from 'bun'
import { STATEMENT_TEXTS } from '../../src/store/statements.ts'

const STORE = join(import.meta.dir, '../../src/store')
/** The modules whose statements only PostgreSQL runs, which import others of them. */
const ONLY_POSTGRES = /^(postgres\/|opening\/(postgres-store|server-database|copy-ends)\.ts)/

for (const path of new Glob('**/*.ts').scanSync(STORE))
  if (!ONLY_POSTGRES.test(path)) await import(join(STORE, path))
process.stdout.write(JSON.stringify([...STATEMENT_TEXTS]))
