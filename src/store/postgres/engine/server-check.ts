// Asks each new connection whether its server can be trusted, before anything else is sent.

import { DomainError } from '../../../domain/errors.ts'
import { type Connect, openConnection } from './connection.ts'
import type { Session } from './database.ts'
import { findServerProblems, readServerFacts, type ServerFacts } from './server-facts.ts'

/** A server that cannot be trusted, or takes no writes. */
export class RefusedServer extends DomainError {
  /** Whether waiting may help: a standby may be about to take over. */
  readonly mayPass: boolean

  constructor(problems: readonly string[], { isStandby }: ServerFacts) {
    super('conflict', problems.join(' '))
    this.mayPass = isStandby
  }
}

/** Throws RefusedServer. */
export async function checkServer(session: Pick<Session, 'query'>): Promise<void> {
  const facts = await readServerFacts(session)
  const problems = findServerProblems(facts)
  if (problems.length > 0) throw new RefusedServer(problems, facts)
}

const OPEN_MS = 8000

/** Throws RefusedServer when the server cannot be trusted, and the cause when it cannot be reached. */
export async function requireServer(connect: Connect): Promise<void> {
  const options = { connect, openWithin: OPEN_MS, prepare: checkServer, onLost: () => undefined }
  const connection = await openConnection(options)
  connection.close()
}
