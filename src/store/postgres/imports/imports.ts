// Stores what is imported from another server, in one transaction.

import { DomainError } from '../../../domain/errors.ts'
import { HOUR, type Now } from '../../../domain/time.ts'
import type { Import, ImportStore } from '../../import-face.ts'
import { insertAccount, updateAccount } from '../accounts/account-rows.ts'
import { LOCKS } from '../engine/advisory-locks.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'
import { apiTokens } from '../schema/schema.ts'
import { createImportedPushes, isImported } from './imported-pushes.ts'

/** All of it is one transaction, however much comes. */
const WITHIN_MS = 12 * HOUR

const FIND_ACCOUNT = 'SELECT id::float8 AS id, is_admin AS "isAdmin" FROM accounts WHERE email = $1'
const HAS_TOKEN = 'SELECT FROM api_tokens WHERE hash = $1'
const NAMES = 'SELECT name FROM api_tokens WHERE account_id = $1'
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
    findAccount: (email) => read((session) => findAccount(session, email)),
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
  async function addApiToken({ accountId, name, hash }: Parameters<Import['addApiToken']>[0]) {
    if ((await session.query(HAS_TOKEN, [hash])).length > 0) return
    const taken = await session.query<{ name: string }>(NAMES, [accountId])
    const free = freeName(name, new Set(taken.map((token) => token.name)))
    const row = { accountId, name: free, prefix: '', hash, createdAt: now(), lastUsedAt: null }
    await session.orm.insert(apiTokens).values(row)
  }

  return {
    findAccount: (email) => findAccount(session, email),
    addAccount: async (account) => (await insertAccount(session, { ...account, lastSignInAt: 0 })).id,
    setTotpSecret: async ({ accountId: id, sealedSecret, step: totpStep }) =>
      void (await updateAccount(session, { id, set: { totpSecret: sealedSecret, totpStep } })),
    addApiToken,
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`
  return free
}

async function findAccount({ query }: Session, email: string) {
  const [found] = await query<{ id: number; isAdmin: boolean }>(FIND_ACCOUNT, [email])
  return found ?? null
}
