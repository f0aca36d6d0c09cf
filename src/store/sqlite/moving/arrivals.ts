// Which confirmed move brought everything into a database. It stands among the rows, so that they tell together what they hold.

import type { Connection } from '../engine/database.ts'
import { arrivals } from '../engine/schema.ts'

const ID = 1

/** Null in a database that began where it is, and in one of an older version. */
export function readArrived({ orm, database }: Connection): string | null {
  const known = database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'arrivals'").get()
  return known === null ? null : (orm.select().from(arrivals).get()?.move ?? null)
}

/** Durable when it returns. */
export function writeArrived({ orm }: Connection, move: string): void {
  orm
    .insert(arrivals)
    .values({ id: ID, move })
    .onConflictDoUpdate({ target: arrivals.id, set: { move } })
    .run()
}
