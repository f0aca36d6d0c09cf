// Alters a database as a broken disk would: past the server and its constraints.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

export function alterDatabase(dataDir: string, statement: string): void {
  const database = new Database(join(dataDir, 'oncebox.db'))
  // The server may be writing at this moment.
  database.run('PRAGMA busy_timeout = 60000')
  for (const pragma of ['foreign_keys = OFF', 'ignore_check_constraints = ON'])
    database.run(`PRAGMA ${pragma}`)
  database.run(statement)
  database.close()
}
