// Keeps a process to one PostgreSQL server that can be trusted: each new connection is asked before it is used.

import { DomainError } from '../../../domain/errors.ts'
import { type Connect, type Connection, openConnection } from './connection.ts'
import type { Session } from './database.ts'
import { deadlineIn } from './deadline.ts'
import {
  findOtherServer,
  findServerProblems,
  findServerWarnings,
  readServerFacts,
  type ServerFacts,
} from './server-facts.ts'

/** Throws `conflict`, and says what is wrong with the server and what helps. */
export function createServerCheck() {
  let accepted: ServerFacts | null = null

  return async (session: Session): Promise<ServerFacts> => {
    const facts = await readServerFacts(session)
    const problems = findServerProblems(facts)
    const other = accepted === null ? null : findOtherServer(facts, accepted)
    if (other !== null) problems.push(other)
    if (problems.length > 0) throw new DomainError('conflict', problems.join(' '))
    accepted = facts
    return facts
  }
}

/** Closes and refuses a connection whose process at the server serves another open connection of ours. */
export function createBackendCheck() {
  const backends = new Map<Connection, string>()

  return (connection: Connection, backend: string): void => {
    for (const other of backends.keys()) if (!other.isOpen()) backends.delete(other)
    if ([...backends.values()].includes(backend)) {
      connection.close()
      throw new DomainError('conflict', POOLED)
    }
    backends.set(connection, backend)
  }
}

const POOLED =
  'A pooler is in between that gives each transaction another connection to PostgreSQL (such as PgBouncer with ' +
  'pool_mode = transaction), so the settings of a connection do not hold. Name the server itself in --database-url, or set ' +
  'pool_mode = session.'

export type Inspection = { facts: ServerFacts; problems: string[]; warnings: string[] }

const OPEN_MS = 8000
const patience = () => ({ answer: OPEN_MS, end: deadlineIn(OPEN_MS) })

/** Looks at a server before it is used, or for a report. Throws the cause when it cannot be reached. */
export async function inspectServer(connect: Connect): Promise<Inspection> {
  const options = { connect, openWithin: OPEN_MS, prepare: async () => undefined, onLost: () => undefined }
  const first = await openConnection(options)
  try {
    const facts = await first.run(readServerFacts, patience())
    const second = await openConnection(options)
    const pooled = await isPooled(facts.backend, { first, second }).finally(second.close)
    const problems = findServerProblems(facts)
    return {
      facts,
      problems: [...(pooled ? [POOLED] : []), ...problems],
      warnings: findServerWarnings(facts),
    }
  } finally {
    first.close()
  }
}

/** Throws `conflict` when the server cannot be trusted, and the cause when it cannot be reached. */
export async function requireServer(connect: Connect, onWarning: (warning: string) => void): Promise<void> {
  const { problems, warnings } = await inspectServer(connect)
  if (problems.length > 0) throw new DomainError('conflict', problems.join(' '))
  for (const warning of warnings) onWarning(warning)
}

/** Two connections of ours have one process at the server, or one has two: then they are not connections to it. */
async function isPooled(
  backend: string,
  { first, second }: { first: Connection; second: Connection },
): Promise<boolean> {
  return second.run(async (session) => {
    // A pooler of statements refuses it.
    const begun = await session.control('BEGIN').catch(() => null)
    if (begun === null || (await backendOf(session)) === backend) return true
    return (await first.run(backendOf, patience())) !== backend
  }, patience())
}

async function backendOf(session: Session): Promise<string> {
  return (await readServerFacts(session)).backend
}
