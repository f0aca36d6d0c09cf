// Opens the connections of a process: to the server that takes writes, if the address names several, and with the settings on
// which the promises of Oncebox rest.

import { DomainError } from '../../../domain/errors.ts'
import { type Connect, type Connection, type OpenPool, openConnection } from './connection.ts'
import type { Session } from './database.ts'
import { createLinks } from './links.ts'
import { createServerCheck } from './server-check.ts'
import type { ServerFacts } from './server-facts.ts'
import { lookAtServer, type SeenServer } from './server-look.ts'
import { explainLeftBehind, NoServerError, type Server, type ServerFailure, tryServers } from './servers.ts'
import { applySettings } from './session-settings.ts'

/** Throws `UnservedError` for a database that may not be served, if `isLast` is false: another server may have a better one. */
export type OnConnect = (session: Session, options: { isLast: boolean }) => Promise<void>

/** The database may not be served, whatever the server. */
export class UnservedError extends DomainError {
  constructor(why: string) {
    super('conflict', why)
  }
}

const OPEN_MS = 2500

export type OpenerOptions = {
  connect: Connect
  onConnect: OnConnect
  /** Called once for each server of the address that begins to be a danger. */
  onWarning: (warning: string) => void
}

/** `onLost` is called when the connection breaks, or leads to a server that a failover left behind. */
export function createOpener({ connect, onConnect, onWarning }: OpenerOptions) {
  const { check, isSuccessor, isLeftBehind } = createServerCheck(connect)
  const links = createLinks()
  const { servers } = connect
  const leftBehind = new Set<Server>()

  async function openOn(open: OpenPool, how: { isLast: boolean; onLost: () => void }): Promise<Opened> {
    const found: { facts: ServerFacts | null } = { facts: null }
    const prepare = async (session: Session) => {
      await applySettings(session)
      found.facts = await check(session)
      await onConnect(session, how)
    }
    const connection = await openConnection({
      connect: open,
      openWithin: OPEN_MS,
      prepare,
      onLost: how.onLost,
    })
    if (found.facts === null) throw new Error('a connection was not prepared')
    return { connection, facts: found.facts }
  }

  async function openOnAny(onLost: () => void): Promise<Opened> {
    if (servers === undefined) return openOn(connect, { isLast: true, onLost })
    const open = (isLast: boolean) => (server: Server) => openOn(server.open, { isLast, onLost })
    const discard = ({ connection }: Opened) => connection.close()
    const { server, made } = await tryServers(servers.inOrder(), open(false), discard).catch((cause) => {
      const unserved = findUnserved(cause)
      if (unserved.length === 0) throw cause
      return tryServers(unserved, open(true), discard)
    })
    servers.use(server)
    return made
  }

  async function open(onLost: () => void): Promise<Connection> {
    const { connection, facts } = await openOnAny(onLost)
    links.add(connection, facts)
    return connection
  }

  /** Whether a server that is not in use has become the primary. From then on it is tried first. */
  async function findSuccessor(): Promise<boolean> {
    const [used, ...others] = servers?.inOrder() ?? []
    const looks = await Promise.all(others.map((server) => lookAtServer(server, OPEN_MS)))
    if (used !== undefined) warnOfLeftBehind(looks, used)
    const found = looks.find((look) => 'facts' in look && isSuccessor(look.facts))
    if (found === undefined || servers?.current() !== used) return false
    servers?.use(found.server)
    return true
  }

  function warnOfLeftBehind(looks: readonly (SeenServer | ServerFailure)[], used: Server): void {
    for (const look of looks.filter((one) => 'facts' in one)) {
      if (!isLeftBehind(look.facts)) leftBehind.delete(look.server)
      else if (!leftBehind.has(look.server)) {
        leftBehind.add(look.server)
        onWarning(explainLeftBehind(look.server, used))
      }
    }
  }

  return { open, findSuccessor }
}

type Opened = { connection: Connection; facts: ServerFacts }

/** Servers whose only fault is the database: the node tells what is wrong with it, and notices when that has ended. */
function findUnserved(cause: unknown): Server[] {
  const failures: readonly ServerFailure[] = cause instanceof NoServerError ? cause.failures : []
  return failures.filter((failure) => failure.cause instanceof UnservedError).map(({ server }) => server)
}
