// Logs when deliveries to a receiver begin to fail and when they succeed again. The health checks repeat it
// once a day.

import { type DeliveryFailure, EXPLAINED, errorOf } from '../domain/outbox.ts'
import { formatTime, type Now } from '../domain/time.ts'
import type { Mailer } from './mailer.ts'

export type Tried = { receiver: string; before: DeliveryFailure | null; error: DeliveryFailure | null }

type Log = Record<'info' | 'warn', (message: string) => void>

export function createTellTried(log: Log) {
  return ({ receiver, before, error }: Tried): void => {
    if (error === null && before !== null) log.info(`${receiver} takes messages again`)
    if (error !== null && before === null)
      log.warn(`${receiver} ${EXPLAINED[errorOf(error)]}: messages wait, for a day at most`)
  }
}

type WatchOptions = { tellTried: (tried: Tried) => void; now: Now }

/** Wraps the mailer. Also reports whether the last mail of this process failed, since when and why. */
export function watchMailer(mailer: Mailer, { tellTried, now }: WatchOptions) {
  let failure: { error: DeliveryFailure; since: string } | null = null
  const send: Mailer['send'] = async (mail, stopped) => {
    const error = await mailer.send(mail, stopped)
    // A stopping server or a bad address is no failure of the mail server.
    if (stopped?.aborted || error === 'not_allowed') return error
    tellTried({ receiver: `the mail server ${mailer.name}`, before: failure?.error ?? null, error })
    failure = error && { error, since: failure?.since ?? formatTime(now()) }
    return error
  }
  return { ...mailer, send, findFailure: () => failure }
}
