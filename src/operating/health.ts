// Whether the server can do its work: "ok" or a task for the operator, for each part by its name.

/** The result of one check. */
export type Finding = {
  /** What is wrong and its remedy, in a sentence or two; null when nothing is. */
  todo: string | null
  /** Whether the server cannot take new pushes because of it. */
  isBlocking?: boolean
}

/** One part of the server. `look` is asked by monitoring every few seconds, so it has to be cheap. */
export type HealthCheck = { name: string; look(): Promise<Finding> | Finding }

export type Health = {
  /** Whether the server can take new pushes. */
  isReady: boolean
  /** By the names of the parts: "ok", or what to do. */
  checks: Record<string, string>
  /** The database server that is used; left out when rows are in the data folder. */
  database?: DatabaseNote
}

/** `server`: such as `db2.example:5432`. `standbys`: what is known of them; left out while the database does not answer. */
export type DatabaseNote = { server: string; standbys?: string; full_page_writes?: string }

export type LookAtHealth = () => Promise<Health>

export const FINE: Finding = { todo: null }

export function createLookAtHealth(
  checks: readonly HealthCheck[],
  noteDatabase: () => Promise<DatabaseNote | null> = async () => null,
): LookAtHealth {
  return async () => {
    const looking = checks.map(async (check) => ({ name: check.name, ...(await look(check)) }))
    const [database, ...found] = await Promise.all([noteDatabase(), ...looking])
    return {
      isReady: !found.some(({ isBlocking }) => isBlocking),
      checks: Object.fromEntries(found.map(({ name, todo }) => [name, todo ?? 'ok'])),
      ...(database === null ? {} : { database }),
    }
  }
}

/** A check that throws counts as a blocking problem. */
async function look(check: HealthCheck): Promise<Finding> {
  try {
    return await check.look()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return { todo: `This could not be checked: ${reason}`, isBlocking: true }
  }
}
