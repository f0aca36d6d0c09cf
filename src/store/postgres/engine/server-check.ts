// Keeps a process to one PostgreSQL server that can be trusted: each new connection is asked before it is used.

import { DomainError } from '../../../domain/errors.ts'
import { type Connect, type Connection, openConnection } from './connection.ts'
import type { Session } from './database.ts'
import { deadlineIn } from './deadline.ts'
import { POOLED } from './links.ts'
import { findLackingRights } from './rights.ts'
import {
  findOtherServer,
  findServerProblems,
  findServerWarnings,
  isStuck,
  readServerFacts,
  type ServerFacts,
  type ServerTrust,
  timelineOf,
} from './server-facts.ts'

/** A server that cannot be trusted, or takes no writes. */
export class RefusedServer extends DomainError {
  readonly isStandby: boolean
  /** Whether waiting may help. */
  readonly mayPass: boolean

  constructor(problems: readonly string[], facts: ServerFacts) {
    super('conflict', problems.join(' '))
    this.isStandby = facts.isStandby
    this.mayPass = facts.isStandby || facts.isReadOnly || isStuck(facts)
  }
}

/** What is wrong with a server and what helps. */
export function refuseServer(facts: ServerFacts, trust: ServerTrust = {}): RefusedServer {
  return new RefusedServer(findServerProblems(facts, trust), facts)
}

/** Accepts the first server, and then only that one and those that follow it after a failover. */
export function createServerCheck(trust: ServerTrust = {}) {
  let accepted: ServerFacts | null = null

  /** Throws RefusedServer. */
  async function check(session: Session): Promise<ServerFacts> {
    const facts = await readServerFacts(session)
    const problems = findServerProblems(facts, trust)
    const other = accepted === null ? null : findOtherServer(facts, accepted)
    if (other !== null) problems.push(other)
    if (problems.length > 0) throw new RefusedServer(problems, facts)
    accepted = facts
    return facts
  }

  /** Whether a failover made this server the primary in place of the one that is accepted. */
  const isSuccessor = (facts: ServerFacts): boolean =>
    accepted !== null &&
    findServerProblems(facts, trust).length === 0 &&
    findOtherServer(facts, accepted) === null &&
    timelineOf(facts) > timelineOf(accepted)

  /** Whether it takes writes that the server which is accepted does not know of. */
  const isLeftBehind = (facts: ServerFacts): boolean =>
    accepted !== null &&
    facts.timeline !== null &&
    facts.systemIdentifier === accepted.systemIdentifier &&
    facts.timeline < timelineOf(accepted)

  return { check, isSuccessor, isLeftBehind }
}

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
    const problems = findServerProblems(facts, connect)
    const lack = await first.run(findLackingRights, patience())
    return {
      facts,
      problems: [...(pooled ? [POOLED] : []), ...problems, ...(lack === null ? [] : [lack])],
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

/** Whether a pooler is in between: two connections share one process of the server, or one connection changes its process. */
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
