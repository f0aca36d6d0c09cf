// Chooses, at a start, the server of an address that names several: the one that takes writes, and of two that do, the one that
// a failover made the primary. Later on, each connection finds it anew.

import { refuseServer } from '../engine/server-check.ts'
import { isStuck, type ServerFacts } from '../engine/server-facts.ts'
import { lookAtServer, type SeenServer } from '../engine/server-look.ts'
import { explainLeftBehind, NoServerError, type ServerFailure, type Servers } from '../engine/servers.ts'
import { explainServer } from './unreachable.ts'

const LOOK_MS = 2500

/** Has it used from now on. Resolves to what an operator should know of the others. Throws NoServerError. */
export async function chooseServer(servers: Servers): Promise<string[]> {
  const looks = await Promise.all(servers.inOrder().map((server) => lookAtServer(server, LOOK_MS)))
  const seen = looks.flatMap((found) => ('facts' in found ? [found] : []))
  const failures = looks.flatMap((found) => ('cause' in found ? [found] : []))
  const writable = seen.filter(({ facts }) => !facts.isStandby && !facts.isReadOnly && !isStuck(facts))
  const [best] = writable.filter(({ facts }) => isSame(facts, writable[0]?.facts)).sort(byTimeline)
  if (best === undefined)
    throw new NoServerError([...failures, ...seen.map(refusalOf)].sort(inOrderOf(servers)))
  servers.use(best.server)
  return [
    ...failures.map((failure) => `${BESIDES} ${explainServer(failure).why}`),
    ...seen.flatMap((other) => findWarning(other, best)),
  ]
}

const BESIDES = 'A server of --database-url cannot be used now, and PostgreSQL is reached without it.'

function refusalOf({ server, facts }: SeenServer): ServerFailure {
  return { server, cause: refuseServer(facts) }
}

const isSame = (one: ServerFacts, other: ServerFacts | undefined) =>
  one.systemIdentifier === other?.systemIdentifier

/** The sort is stable: the order of the address decides between two names of one server. */
const byTimeline = (one: SeenServer, other: SeenServer) =>
  (other.facts.timeline ?? 0) - (one.facts.timeline ?? 0)

function inOrderOf(servers: Servers) {
  const order = servers.inOrder()
  return (one: ServerFailure, other: ServerFailure) => order.indexOf(one.server) - order.indexOf(other.server)
}

function findWarning({ server, facts }: SeenServer, best: SeenServer): string[] {
  if (!isSame(facts, best.facts))
    return [
      `${server.name} is another PostgreSQL server than ${best.server.name} (system identifier ${facts.systemIdentifier}, there ` +
        `${best.facts.systemIdentifier}), and no standby of it: take it out of --database-url.`,
    ]
  if (facts.timeline === null || facts.timeline >= (best.facts.timeline ?? 0)) return []
  return [explainLeftBehind(server, best.server)]
}
