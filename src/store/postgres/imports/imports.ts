// Stores what is imported from another server, in one transaction.

import { DomainError } from '../../../domain/errors.ts'
import { HOUR, type Now } from '../../../domain/time.ts'
import { findForImport, insertAccount } from '../../accounts/accounts.ts'
import { importToken } from '../../accounts/api-tokens.ts'
import { importTwoFactor } from '../../accounts/two-factor.ts'
import type { Import, ImportStore } from '../../import-face.ts'
import { LOCKS } from '../engine/advisory-locks.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { drive } from '../engine/run-steps.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'
import { createImportedPushes, isImported } from './imported-pushes.ts'

/** All of it is one transaction, however much comes. */
const WITHIN_MS = 12 * HOUR

const OTHERS = `SELECT name FROM nodes WHERE id <> $1 AND id IN (${LIVE_NODES}) ORDER BY seen_at DESC LIMIT 1`
// Until the end of the transaction.
const LOCK = `SELECT pg_try_advisory_xact_lock(${LOCKS.imports}) AS locked`

export type ImportsOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** The id of this process among the nodes. */
  node: Uint8Array
  now: Now
}

/** What is here already. */
export function createImportLook({ read }: Pick<PostgresDatabase, 'read'>): ImportStore['look'] {
  return {
    isKnown: (marks) => read((session) => isImported(session, marks)),
    findAccount: (email) => read((session) => drive(findForImport(email), session)),
  }
}

export function createImports({ database, node, now }: ImportsOptions): ImportStore {
  const look = createImportLook(database)

  function importAll(work: (step: Import) => Promise<void>): Promise<void> {
    return database.transact(
      async (session) => {
        await requireAlone(session, node)
        const pushes = createImportedPushes(session)
        await work({ ...createStep(session, now), ...pushes })
        await pushes.flush()
      },
      { within: WITHIN_MS },
    )
  }

  return { importAll, isKnown: look.isKnown, look }
}

async function requireAlone({ query }: Session, node: Uint8Array): Promise<void> {
  const [{ locked } = { locked: false }] = await query<{ locked: boolean }>(LOCK)
  if (!locked) throw new DomainError('conflict', 'Another import into this database is running.')
  const [other] = await query<{ name: string }>(OTHERS, [node])
  if (other !== undefined)
    throw new DomainError(
      'conflict',
      `The node ${other.name} serves this database. Stop all nodes before an import; one that was killed counts as stopped ` +
        'after a minute.',
    )
}

/** Without pushes and marks. */
function createStep(session: Session, now: Now): Omit<Import, 'addPush' | 'remember' | 'isKnown'> {
  return {
    findAccount: (email) => drive(findForImport(email), session),
    addAccount: async (account) => (await drive(insertAccount(account), session)).id,
    setTotpSecret: (secret) => drive(importTwoFactor(secret), session),
    addApiToken: (token) => drive(importToken({ ...token, createdAt: now() }), session),
  }
}
