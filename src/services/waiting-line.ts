// The queue of works that wait for a free lane. Clients take turns, and so do the subjects of one client.

/**
 * Who wants the work, and on which subject, such as one push. A network groups all clients that one person may control;
 * subjects separate people who share an address.
 */
export type Place = { network: string; client: string; subject: string }

export type WaitingLine<T extends Place> = ReturnType<typeof createWaitingLine<T>>

const LEVELS = ['network', 'client', 'subject'] as const

type Level = (typeof LEVELS)[number]

/** Names whose last turn is remembered. The oldest are forgotten first. */
const MAX_REMEMBERED = 4096

/** Holds `maxWaiting` works, `maxOfClient` of one client. Both are small: each step looks at every work. */
export function createWaitingLine<T extends Place>(limits: { maxWaiting: number; maxOfClient: number }) {
  const { maxWaiting, maxOfClient } = limits
  let waiting: T[] = []
  /** The number of the turn in which each network, client and subject was last served. */
  const served = new Map<string, number>()
  let turns = 0

  /**
   * Returns the work that has to leave, or null while there is room. The latest work of the largest group leaves, so that a
   * flood displaces itself and not the others. Of groups of equal size, the one that was served last gives way: many
   * addresses with one work each cannot keep out one that has not been served yet.
   */
  function add(newcomer: T): T | null {
    waiting.push(newcomer)
    const own = waiting.filter(({ client }) => client === newcomer.client)
    const isClientOver = own.length > maxOfClient
    if (waiting.length <= maxWaiting && !isClientOver) return null
    const levels = isClientOver ? (['subject'] as const) : LEVELS
    let crowd = isClientOver ? own : waiting
    for (const level of levels) crowd = largestGroup(crowd, level, newcomer)
    const leaving = crowd.at(-1) ?? newcomer
    waiting = waiting.filter((work) => work !== leaving)
    return leaving
  }

  /** Prefers the group served last, then the newcomer's. */
  function largestGroup(works: T[], level: Level, newcomer: T): T[] {
    let largest = works.filter((work) => work[level] === newcomer[level])
    for (const name of new Set(works.map((work) => work[level]))) {
      const group = works.filter((work) => work[level] === name)
      const isServedLater = lastTurn(level, name) > lastTurn(level, largest[0]?.[level])
      if (group.length > largest.length || (group.length === largest.length && isServedLater)) largest = group
    }
    return largest
  }

  function lastTurn(level: Level, name: string | undefined): number {
    return served.get(`${level} ${name}`) ?? 0
  }

  /** The next work, or null. Its client then waits behind other clients, and its subject behind the client's other subjects. */
  function takeNext(): T | null {
    const next = waiting.shift()
    if (next === undefined) return null
    remember(next)
    const isOwn = ({ client }: T) => client === next.client
    const others = waiting.filter((work) => !isOwn(work))
    const own = waiting.filter(isOwn)
    const isSameSubject = ({ subject }: T) => subject === next.subject
    waiting = [...others, ...own.filter((work) => !isSameSubject(work)), ...own.filter(isSameSubject)]
    return next
  }

  function remember(work: T): void {
    turns += 1
    for (const level of LEVELS) {
      const name = `${level} ${work[level]}`
      served.delete(name)
      served.set(name, turns)
    }
    for (const oldest of served.keys()) {
      if (served.size <= MAX_REMEMBERED) break
      served.delete(oldest)
    }
  }

  return { add, takeNext, length: () => waiting.length }
}
