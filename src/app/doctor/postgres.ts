// What the doctor says of PostgreSQL: whether it can be reached and trusted, and what its operator should look after.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import type { DatabaseSettings } from '../../settings/database.ts'
import { createNodeNoteFile, type NodeNote } from '../../store/folder/node-note.ts'
import {
  type DatabaseInspection,
  type InstanceInspection,
  inspectPostgres,
} from '../../store/postgres/inspection.ts'
import { connectTo, warnAboutTls } from '../../store/postgres/reaching/address.ts'
import { explainUnreachable } from '../../store/postgres/reaching/unreachable.ts'
import { type Finding, fine, problem, warning } from './finding.ts'
import type { KeyRows } from './node-keys.ts'
import { examineClocks, examineVacuum } from './server-upkeep.ts'

const MIB = 1024 * 1024

export type PostgresLook = { dataDir: string; now: () => number }

export type PostgresRead = { keys: KeyRows; findings: Finding[] }

export async function examinePostgres(settings: DatabaseSettings, look: PostgresLook): Promise<PostgresRead> {
  const { address } = settings
  try {
    const connect = connectTo(address)
    const note = await createNodeNoteFile(look.dataDir).read()
    const inspection = await inspectPostgres({ ...look, connect, note })
    return {
      keys: { verifiers: inspection.instance?.verifiers ?? [], nodes: inspection.instance?.nodes ?? [] },
      findings: [
        ...describeServer(inspection, address),
        ...examineInstance(inspection, note),
        ...examineConnections(inspection, settings),
        ...examineVacuum(inspection),
        ...(inspection.logsValues ? [LOGS_VALUES] : []),
        examineClocks(inspection, look.now()),
      ],
    }
  } catch (cause) {
    return {
      keys: { verifiers: [], nodes: [] },
      findings: [problem('database', describeFailure(address, cause), REMEDY)],
    }
  }
}

/** Sentences of our own name the address already. */
function describeFailure(address: DatabaseAddress, cause: unknown): string {
  const unreachable = explainUnreachable(address, cause)
  if (unreachable !== null) return unreachable.error.message
  if (cause instanceof DomainError) return cause.message
  return `${presentDatabaseAddress(address)} cannot be looked at: ${reasonOf(cause)}`
}

const REMEDY =
  'Mend that; until then, nodes do not start. See docs/beyond-one-machine.md, "When something fails".'
const SEE = 'See docs/beyond-one-machine.md.'
const SERVER_REMEDY = `Until then, nodes refuse to start. ${SEE}`

function describeServer(inspection: DatabaseInspection, address: DatabaseAddress): Finding[] {
  const { version, problems, isEncrypted, bytes } = inspection
  const { socket, tls } = address
  const way =
    socket !== null
      ? 'over its socket'
      : isEncrypted
        ? `over TLS (${tls.mode})`
        : `not encrypted (${tls.mode})`
  const weakness = warnAboutTls(address)
  return [
    ...problems.map((words) => problem('database', words, SERVER_REMEDY)),
    ...(weakness === null ? [] : [warning('database', weakness, SEE)]),
    fine(
      'database',
      `${presentDatabaseAddress(address)}, PostgreSQL ${version}, ${way}, ${Math.ceil(bytes / MIB)} MiB.`,
    ),
  ]
}

const LOGS_VALUES = warning(
  'database',
  'PostgreSQL logs statements with their values: sealed payloads and keys, e-mail addresses and IP addresses stay in its log after ' +
    'pushes have ended.',
  'As a superuser: ALTER DATABASE … SET log_parameter_max_length = 0. Statements are then logged without values.',
)

function examineInstance({ instance, newest }: DatabaseInspection, note: NodeNote | null): Finding[] {
  if (instance === null) return [note === null ? EMPTY : EMPTIED]
  const { version, compatibleFrom } = instance
  if (version > newest && compatibleFrom > newest)
    return [
      problem(
        'tables',
        `The tables are of a newer Oncebox (version ${version}; this one knows ${newest}).`,
        'Use the newer program.',
      ),
    ]
  const tables = fine('tables', `Version ${version}${presentAge(version, newest)}.`)
  return [tables, ...examineRefusal(instance), describeNodes(instance)]
}

const EMPTY = warning(
  'tables',
  'The database is empty.',
  'Start "oncebox serve" once, which makes the tables.',
)

const EMPTIED = problem(
  'tables',
  'The database is empty, though this data folder served one.',
  'Restore it, or name the right one with --database-url.',
)

function presentAge(version: number, newest: number): string {
  if (version === newest) return ''
  return version > newest
    ? ', newer than this program, which may serve it still'
    : `; the next start upgrades it to ${newest}`
}

/** Whether the database was set back, or is another one. */
function examineRefusal({ refusal }: InstanceInspection): Finding[] {
  return refusal === null ? [] : [problem('restore', refusal, SEE)]
}

function describeNodes({ nodes }: InstanceInspection): Finding {
  const alive = nodes.filter(({ isAlive }) => isAlive)
  const names = alive.map(({ name, version }) => `${name} (${version})`).join(', ')
  if (alive.length === 0) return fine('nodes', 'No node serves the database now.')
  const said =
    alive.length === 1
      ? `One serves the database: ${names}.`
      : `${alive.length} serve the database: ${names}.`
  if (new Set(alive.map(({ version }) => version)).size === 1) return fine('nodes', said)
  return warning('nodes', `${said} An upgrade is under way.`, 'Upgrade the nodes of the older version, too.')
}

function examineConnections(
  { connections, instance }: DatabaseInspection,
  settings: DatabaseSettings,
): Finding[] {
  const { max, used } = connections
  const alive = instance?.nodes.filter(({ isAlive }) => isAlive).length ?? 0
  const nodes = Math.max(1, alive)
  const wanted = nodes * settings.connections
  const said = `${used} of ${max} connections of the server are in use`
  const remedy = 'Raise max_connections of PostgreSQL, or lower --database-connections.'
  if (wanted > max)
    return [problem('connections', `${said}, and ${count(nodes, 'node')} may open ${wanted}.`, remedy)]
  if (max - used < settings.connections && alive === 0)
    return [warning('connections', `${said}: a node may not get its ${settings.connections}.`, remedy)]
  return [fine('connections', `${said}; ${count(nodes, 'node')} may open ${wanted}.`)]
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
