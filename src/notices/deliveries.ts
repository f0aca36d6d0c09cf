// The job that delivers the messages of the outbox. Messages for one receiver are sent one after another,
// those for different receivers concurrently, so that a hanging receiver delays only itself and webhooks
// never delay mail.

import { DamageError } from '../domain/errors.ts'
import type { Job, JobReport } from '../domain/job.ts'
import { type DeliveryFailure, MOST_WEBHOOKS, type OutboxKind } from '../domain/outbox.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { DamageReports, Store } from '../store/contract.ts'
import type { DueMessage } from '../store/notices-contract.ts'

/** A channel of delivery, such as webhooks or mail. */
export type Channel = {
  kinds: readonly OutboxKind[]
  /**
   * Makes one attempt, which takes less than LEASE. Resolves to null on success. `signal` aborts it when the
   * server stops.
   */
  deliver(message: DueMessage, signal: AbortSignal): Promise<DeliveryFailure | null>
}

type DeliveriesOptions = {
  outbox: Pick<Store['outbox'], 'takeDue' | 'findNextDue' | 'settleTry' | 'hasten'>
  channels: readonly Channel[]
  damage: DamageReports
  /** Calls `ring` when this process has queued messages. */
  whenQueued: (ring: () => void) => void
  /** Milliseconds between polls for messages that another process has queued, or a crash has left. */
  lookEvery: number
  now: Now
}

/**
 * Concurrent attempts. More than the webhooks of one account, so that one whose receivers all hang does not
 * stop the deliveries of others.
 */
const AT_ONCE = 2 * MOST_WEBHOOKS
const RETRY_MS = 5_000
/**
 * The pause while the message that is due first waits for its receiver, or while others are being given up.
 */
const BLOCKED_MS = 250

/** The receiver of all mail: the mail server. */
const MAIL = 0
const nameOf = ({ id, webhookId }: DueMessage) =>
  webhookId === null ? `mail ${id} of the outbox` : `webhook ${webhookId}`
/** Returns the receiver of a message: the id of a webhook, or MAIL. */
const receiverOf = ({ webhookId }: DueMessage) => webhookId ?? MAIL

export function createDeliveries(options: DeliveriesOptions): Job {
  const { outbox, channels, damage, now } = options
  // Without a channel, messages can only expire.
  const lookAgain = channels.length === 0 ? HOUR : options.lookEvery
  const running = new Map<number, Promise<void>>()
  const stopping = new AbortController()
  let bell = Promise.withResolvers<void>()
  let loop: Promise<void> = Promise.resolve()

  function ring(): void {
    bell.resolve()
  }

  /** Waits until the next ring, but at most `ms`. Returns at once if it rang since the last wait. */
  async function rest(ms: number): Promise<void> {
    const timer = setTimeout(ring, ms)
    await bell.promise
    clearTimeout(timer)
    bell = Promise.withResolvers()
  }

  async function run(report: JobReport): Promise<void> {
    await outbox.hasten().catch(report.failed)
    while (!stopping.signal.aborted) {
      const wait = await deliverDue(report).catch((cause) => {
        report.failed(cause)
        return RETRY_MS
      })
      if (wait > 0) await rest(wait)
    }
    await Promise.all(running.values())
  }

  /** Starts the delivery of one message, if one is due. Returns the milliseconds until the next poll. */
  async function deliverDue(report: JobReport): Promise<number> {
    const due = await outbox.findNextDue()
    const wait = due === null ? lookAgain : Math.min(due - now(), lookAgain)
    if (wait > 0) return wait
    // Above the limit take only mail, so that hanging webhooks do not stop it.
    const onlyMail = running.size >= AT_ONCE
    if (onlyMail && running.has(MAIL)) return lookAgain
    const message = await outbox.takeDue([...running.keys()], { onlyMail })
    if (message === null) return Math.min(BLOCKED_MS, lookAgain)
    const receiver = receiverOf(message)
    const delivering = deliver(message, report).finally(() => {
      running.delete(receiver)
      ring()
    })
    running.set(receiver, delivering)
    return 0
  }

  async function deliver(message: DueMessage, report: JobReport): Promise<void> {
    try {
      const channel = channels.find(({ kinds }) => kinds.includes(message.kind))
      const error = channel ? await channel.deliver(message, stopping.signal) : 'not_configured'
      // Keep the lease until it expires: another node, or the next start, retries.
      if (stopping.signal.aborted && error !== null) return
      if (error === 'damaged') damage.report(new DamageError(nameOf(message)))
      await outbox.settleTry(message, error)
      report.did()
    } catch (cause) {
      if (cause instanceof DamageError) damage.report(cause)
      report.failed(cause)
    }
  }

  function start(report: JobReport): void {
    if (channels.length > 0) options.whenQueued(ring)
    loop = run(report)
  }

  async function stop(): Promise<void> {
    stopping.abort()
    ring()
    await loop
  }

  return { name: 'deliveries', start, stop }
}
