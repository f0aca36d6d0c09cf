// What nodes share, as rows. Each lapses by itself and is swept.

import { hashAddress } from '../../../crypto/digest.ts'
import type { Keyring } from '../../../crypto/keyring.ts'
import type { Trusted } from '../../../domain/clock.ts'
import type { Now } from '../../../domain/time.ts'
import type { SharedState } from '../../shared-face.ts'
import type { Read, Transact } from '../engine/database.ts'
import { createBudgetRows } from './budgets.ts'
import { createExchange } from './exchange.ts'
import { createSharedJob } from './job.ts'
import { createNonceRows } from './nonces.ts'
import { createOfferRows } from './offers.ts'
import { createTurnRows } from './turns.ts'

export type SharedRowsOptions = {
  read: Read
  transact: Transact
  now: Now
  trusted: Trusted
  keyring: Keyring
  onError: (cause: unknown) => void
}

export function createSharedRows({ keyring, ...options }: SharedRowsOptions) {
  // Nodes with other sealing keys, while a new key is introduced, count by themselves.
  const hashName = (name: string) =>
    hashAddress(`shared ${name}`, keyring.sealing.addresses).toString('base64url')
  const { open, exchange } = createExchange({ ...options, hashName })
  const { settle, ...budgets } = createBudgetRows({ ...options, hashName })
  const { job, sweep } = createSharedJob({ ...options, exchange, settle })
  const state: SharedState = {
    budgets,
    nonces: createNonceRows({ ...options, keyring }),
    turns: createTurnRows(options),
    offers: createOfferRows(options),
    exchange: open,
  }
  return { state, job, exchange, settle, sweep }
}
