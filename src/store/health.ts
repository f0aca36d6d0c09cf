// Numbers for health checks. These are the only reads that do not wait for the disk, so that they answer
// while it hangs.

import type { PushCounts } from '../domain/listing.ts'
import type { DeliveryFailure, OutboxKind } from '../domain/outbox.ts'
import { MESSAGE_COUNTS } from './notices/outbox.ts'
import type { OutboxCounts } from './notices-contract.ts'
import { statement } from './statements.ts'
import { all, breathe, first, type Parts } from './steps.ts'

/** Index entries that one step of counting reads: it blocks the event loop for about a millisecond. */
const COUNT_STEP = 10_000

type IndexPosition = { at: number; id: number }

/**
 * Makes two statements: one finds the index position at which a step ends, the other counts the pushes after
 * the last full step.
 */
function counting(time: string, where: string) {
  const rest = `FROM pushes WHERE ${where} AND (${time}, id) > ($1, $2)`
  return {
    END: statement<IndexPosition>(
      `SELECT ${time} AS at, id ${rest} ORDER BY ${time}, id LIMIT 1 OFFSET ${COUNT_STEP - 1}`,
    ),
    REST: statement<{ n: number }>(`SELECT count(*) AS n ${rest}`),
  }
}

const LIVE = counting('expires_at', 'expired_on IS NULL')
const [ANONYMOUS_ENDED, OWNED_ENDED] = [
  counting('expired_on', 'expired_on IS NOT NULL AND owner_id IS NULL'),
  counting('expired_on', 'expired_on IS NOT NULL AND owner_id IS NOT NULL'),
]

const COUNT_MESSAGES = statement<OutboxCounts & { kind: OutboxKind }>(
  `SELECT kind, ${MESSAGE_COUNTS} FROM outbox GROUP BY kind`,
)

const FAILING = statement<{ host: string; error: DeliveryFailure; count: number }>(
  `SELECT host, last_error AS error, count(*) AS count FROM webhooks WHERE last_error IS NOT NULL
    GROUP BY host, last_error ORDER BY count(*) DESC, host LIMIT 5`,
)

export function createHealth({ glance }: Pick<Parts, 'glance'>) {
  /** Counts in steps, so that other requests run in between. */
  async function count({ END, REST }: ReturnType<typeof counting>): Promise<number> {
    let position: IndexPosition = { at: Number.MIN_SAFE_INTEGER, id: 0 }
    for (let counted = 0; ; counted += COUNT_STEP) {
      const { at, id } = position
      const next = await glance(() => first(END, at, id))
      if (next === null) return counted + ((await glance(() => first(REST, at, id)))?.n ?? 0)
      position = next
      await breathe()
    }
  }

  /** Counts the pushes by reading a whole index, in steps, so that other requests run in between. */
  async function countPushes(): Promise<PushCounts> {
    return { live: await count(LIVE), expired: (await count(ANONYMOUS_ENDED)) + (await count(OWNED_ENDED)) }
  }

  async function countMessages(): Promise<Partial<Record<OutboxKind, OutboxCounts>>> {
    const counts = await glance(() => all(COUNT_MESSAGES))
    return Object.fromEntries(counts.map(({ kind, waiting, failed }) => [kind, { waiting, failed }]))
  }

  return {
    countPushes,
    countMessages,
    /**
     * Counts, for each host, the webhooks whose last delivery failed, with the reason. Lists only the hosts
     * with the most of them.
     */
    listFailingWebhooks: () => glance(() => all(FAILING)),
  }
}
