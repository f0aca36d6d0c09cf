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
}

export type LookAtHealth = () => Promise<Health>

export const FINE: Finding = { todo: null }

export function createLookAtHealth(checks: readonly HealthCheck[]): LookAtHealth {
  return async () => {
    const looking = checks.map(async (check) => ({ name: check.name, ...(await look(check)) }))
    const found = await Promise.all(looking)
    return {
      isReady: !found.some(({ isBlocking }) => isBlocking),
      checks: Object.fromEntries(found.map(({ name, todo }) => [name, todo ?? 'ok'])),
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
