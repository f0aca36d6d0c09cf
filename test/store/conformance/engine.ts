// The engine under test: a store that is opened empty, its clock, and a way to open the same data again.

import type { AuditKind } from '../../../src/domain/audit.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { TestClock } from '../../support/instance.ts'

export type OpenedEngine = {
  /** The store; replaced by `reopen`. */
  readonly store: Store
  clock: TestClock
  /** Ends the store in order and opens the same data again. */
  reopen(): Promise<void>
  /** Ends the store and removes its data. */
  close(): Promise<void>
}

export type OpenEngine = () => Promise<OpenedEngine>

/** The kinds of all entries in the log of a push, oldest first. */
export async function readKinds({ store }: Pick<OpenedEngine, 'store'>, id: number): Promise<AuditKind[]> {
  const pieces = await Array.fromAsync(store.audit.readAll({ id }))
  return pieces.flat().map(({ kind }) => kind)
}
