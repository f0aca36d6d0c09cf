// Chooses among works that wait those that go in one batch.

export type Waiting = {
  /** What the work is about; null for a work that has nothing to do with the others. */
  key: string | null
  weight: number
  /** When it came, by `performance.now()`. */
  since: number
  reject: (cause: unknown) => void
}

export type BatchLimits = {
  mostInBatch: number
  /** What the works of a batch may weigh together; a single work may weigh more. */
  mostWeight: number
  /** Whether works on the same thing go in different batches. */
  oneOfEachKey?: boolean
}

export type NextBatch<Work> = {
  batch: Work[]
  /** What the works of the batch are about. */
  keys: ReadonlySet<string>
  /** The others, in their order. */
  rest: Work[]
  /** Works that have waited for too long. */
  late: Work[]
}

/** `busy`: what batches under way are about. `oldest`: works that came earlier are late. */
export function nextBatch<Work extends Waiting>(
  waiting: readonly Work[],
  { limits, busy, oldest }: { limits: BatchLimits; busy: ReadonlySet<string>; oldest: number },
): NextBatch<Work> {
  const { mostInBatch, mostWeight, oneOfEachKey = false } = limits
  const batch: Work[] = []
  const keys = new Set<string>()
  const rest: Work[] = []
  const late: Work[] = []
  let weight = 0
  const hasRoom = (work: Work) =>
    batch.length < mostInBatch && (weight === 0 || weight + work.weight <= mostWeight)
  const isTaken = (key: string) => busy.has(key) || (oneOfEachKey && keys.has(key))
  for (const work of waiting) {
    if (work.since < oldest) late.push(work)
    else if (!hasRoom(work) || (work.key !== null && isTaken(work.key))) rest.push(work)
    else {
      batch.push(work)
      weight += work.weight
      if (work.key !== null) keys.add(work.key)
    }
  }
  return { batch, keys, rest, late }
}
