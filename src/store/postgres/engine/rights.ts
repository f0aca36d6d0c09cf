// What the user of --database-url may do in our schema, and the GRANT for what is missing.

import type { Session } from './database.ts'
import { SCHEMA } from './schema-name.ts'

/** Read from the catalogs, which need no rights. Migrations alone change `schema_versions`, and the row of the instance stays. */
const LACKING = `SELECT current_user AS "user", what, name, lacking
  FROM (
    SELECT 'schema' AS what, nspname::text AS name, ARRAY['USAGE'] AS lacking FROM pg_namespace
      WHERE nspname = '${SCHEMA}' AND NOT has_schema_privilege(oid, 'USAGE')
    UNION ALL
    SELECT 'table', relname::text, ARRAY(SELECT "right" FROM unnest(CASE relname WHEN 'schema_versions' THEN ARRAY['SELECT']
          WHEN 'instance' THEN ARRAY['SELECT', 'UPDATE'] ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) AS "right"
        WHERE NOT has_table_privilege(pg_class.oid, "right"))
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = '${SCHEMA}' AND relkind IN ('r', 'p')
    UNION ALL
    SELECT 'sequence', relname::text, ARRAY['USAGE']
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = '${SCHEMA}' AND relname = 'pushes_id_seq' AND NOT has_sequence_privilege(pg_class.oid, 'USAGE, UPDATE')
    UNION ALL
    SELECT 'policy', relname::text, ARRAY['all rows']
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = '${SCHEMA}' AND relrowsecurity AND row_security_active(pg_class.oid)
  ) AS found WHERE lacking <> '{}' ORDER BY what, name`

type Lack = {
  user: string
  what: 'schema' | 'table' | 'sequence' | 'policy'
  name: string
  lacking: string[]
}

/** Names the missing rights and the GRANT that gives them; null when none is missing, or without our tables. One cheap query. */
export async function findLackingRights({ query }: Pick<Session, 'query'>): Promise<string | null> {
  const lacks = await query<Lack>(LACKING)
  const [first] = lacks
  if (first === undefined) return null
  const said = lacks.map(present)
  const more = said.length > MOST_NAMED ? ` and ${said.length - MOST_NAMED} more` : ''
  return (
    `The user ${JSON.stringify(first.user)} of --database-url lacks rights: ${said.slice(0, MOST_NAMED).join(', ')}${more}. ` +
    `As the owner of the tables: ${grantsFor(lacks, quote(first.user)).join('; ')}.`
  )
}

/** Looks again and again. `onChange` is called with what is missing when that changes, and with null once nothing is. */
export function createRightsWatch(onChange: (lack: string | null) => void) {
  let told: string | null = null
  const look = async (session: Pick<Session, 'query'>): Promise<string | null> => {
    const lack = await findLackingRights(session)
    if (lack !== told) onChange(lack)
    told = lack
    return lack
  }
  return { look }
}

export type RightsWatch = ReturnType<typeof createRightsWatch>

const MOST_NAMED = 4

function present({ what, name, lacking }: Lack): string {
  if (what === 'schema') return `USAGE of the schema ${name}`
  if (what === 'policy') return `all rows of ${SCHEMA}.${name}, some of which a row security policy hides`
  return `${lacking.join(', ')} on ${what === 'sequence' ? 'the sequence ' : ''}${SCHEMA}.${name}`
}

/** One for each set of rights, with all tables that lack it. */
function grantsFor(lacks: readonly Lack[], user: string): string[] {
  const tables = lacks.filter(({ what }) => what === 'table')
  const sets = [...new Set(tables.map(({ lacking }) => lacking.join(', ')))]
  const isWide = tables.length > MOST_NAMED
  return [
    ...lacks.filter(({ what }) => what === 'schema').map(() => `GRANT USAGE ON SCHEMA ${SCHEMA} TO ${user}`),
    ...(isWide ? [`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${SCHEMA} TO ${user}`] : []),
    ...(isWide ? [] : sets).map((set) => {
      const names = tables.filter(({ lacking }) => lacking.join(', ') === set)
      return `GRANT ${set} ON ${names.map(({ name }) => `${SCHEMA}.${name}`).join(', ')} TO ${user}`
    }),
    ...lacks
      .filter(({ what }) => what === 'sequence')
      .map(({ name }) => `GRANT USAGE ON SEQUENCE ${SCHEMA}.${name} TO ${user}`),
    ...lacks
      .filter(({ what }) => what === 'policy')
      .map(({ name }) => `ALTER TABLE ${SCHEMA}.${name} DISABLE ROW LEVEL SECURITY`),
  ]
}

/** As SQL writes it. */
function quote(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
