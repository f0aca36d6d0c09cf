// The works that wait for a free lane. Clients take turns, and so do the subjects of one client.

/** Who wants the work, and for what, such as one push: subjects tell people apart who share an address. */
export type Place = { client: string; subject: string }

export type WaitingLine<T extends Place> = ReturnType<typeof createWaitingLine<T>>

/** Holds `maxWaiting` works, `maxOfClient` of one client. Both are small: each step looks at every work. */
export function createWaitingLine<T extends Place>(limits: { maxWaiting: number; maxOfClient: number }) {
  const { maxWaiting, maxOfClient } = limits
  let waiting: T[] = []

  /**
   * Returns the work that has to leave, or null while there is room. The latest work of whoever takes the most places
   * leaves, so a flood displaces itself and not the others; of equals, the newcomer leaves.
   */
  function add(newcomer: T): T | null {
    waiting.push(newcomer)
    const own = waiting.filter(({ client }) => client === newcomer.client)
    if (waiting.length <= maxWaiting && own.length <= maxOfClient) return null
    const crowd = own.length > maxOfClient ? own : largestGroup(waiting, 'client', newcomer)
    const leaving = largestGroup(crowd, 'subject', newcomer).at(-1) ?? newcomer
    waiting = waiting.filter((work) => work !== leaving)
    return leaving
  }

  /** The next work, or null. Afterwards its client waits behind the other clients, its subject behind the others of it. */
  function takeNext(): T | null {
    const next = waiting.shift()
    if (next === undefined) return null
    const isOwn = ({ client }: T) => client === next.client
    const others = waiting.filter((work) => !isOwn(work))
    const own = waiting.filter(isOwn)
    const isSameSubject = ({ subject }: T) => subject === next.subject
    waiting = [...others, ...own.filter((work) => !isSameSubject(work)), ...own.filter(isSameSubject)]
    return next
  }

  return { add, takeNext }
}

/** The largest group of works with the same client or subject. Of equals, the one of `newcomer`. */
function largestGroup<T extends Place>(works: T[], by: keyof Place, newcomer: T): T[] {
  let largest: T[] = works.filter((work) => work[by] === newcomer[by])
  for (const name of new Set(works.map((work) => work[by]))) {
    const group = works.filter((work) => work[by] === name)
    if (group.length > largest.length) largest = group
  }
  return largest
}
