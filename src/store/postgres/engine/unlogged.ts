// Tables and sequences of ours that somebody has set UNLOGGED: PostgreSQL empties them after a crash, and standbys never have them.

import { SCHEMA } from './schema-name.ts'

/** Such as `TABLE oncebox.pushes`, for ALTER. The catalogs tell everybody, also where there are no tables yet. */
export const UNLOGGED = `ARRAY(SELECT format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, nspname, relname)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = '${SCHEMA}' AND relkind IN ('r', 'p', 'S') AND relpersistence = 'u' ORDER BY relkind = 'S', pg_class.oid)`

const MOST_NAMED = 4

/** A sentence with what is wrong, and one with what helps. */
export function explainUnlogged(unlogged: readonly string[]): string {
  const names = unlogged.map((one) => one.split(' ').at(-1))
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return (
    `After a crash PostgreSQL would empty ${names.slice(0, MOST_NAMED).join(', ')}${more} (UNLOGGED), and what was acknowledged ` +
    `would be lost. As the owner: ${unlogged.map((one) => `ALTER ${one} SET LOGGED`).join('; ')}.`
  )
}
