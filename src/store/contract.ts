// The store as the services see it. Each operation is documented where it is defined, and every one is
// atomic: it happens as a whole or not at all, even if the process dies in the middle. When its promise
// resolves, its change is durable, and so is each end that a read has reported (steps.ts). Any operation may
// throw `overloaded` (nothing was stored), DamageError if it reads altered data, and, if it stores something
// new, `disk_full`.

import type { BucketReport, FileStore, FreeSpace } from './files-contract.ts'
import type { createOperations } from './operations.ts'
import type { createImports } from './pushes/imports.ts'

type Operations = ReturnType<typeof createOperations>

export type Store = Omit<Operations, 'shared'> & {
  imports: ReturnType<typeof createImports>
  files: FileStore
  freeSpace: FreeSpace
  bucket: BucketReport | null
}

/** Counts of tries, and used nonces, which all nodes of one instance share. */
export type SharedState = Operations['shared']

/** Reports of damage to the operator. */
export type DamageReports = Store['damage']
