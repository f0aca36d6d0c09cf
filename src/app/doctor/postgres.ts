// What the doctor says of PostgreSQL: whether it can be reached and trusted, and what its operator should look after.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import { RESTORATION_REMEDY } from '../../domain/restoration.ts'
import { explainWaiting, judgeStandbys, type Standbys, UNSEEN_REMEDY } from '../../domain/standbys.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import type { DatabaseSettings } from '../../settings/database.ts'
import { readKeyFile } from '../../store/folder/key-file.ts'
import type { Server } from '../../store/postgres/engine/servers.ts'
import {
  type DatabaseInspection,
  type InstanceInspection,
  inspectPostgres,
} from '../../store/postgres/inspection.ts'
import { connectTo, warnAboutTls } from '../../store/postgres/reaching/address.ts'
import { chooseServer } from '../../store/postgres/reaching/choosing.ts'
import { explainUnreachable } from '../../store/postgres/reaching/unreachable.ts'
import { createBucketWitness, type WitnessBucket } from '../../store/witness/bucket-witness.ts'
import { createFolderWitness } from '../../store/witness/folder-witness.ts'
import type { SavedWitness } from '../../store/witness/saved-witness.ts'
import { type Finding, fine, problem, warning } from './finding.ts'
import type { KeyRows } from './node-keys.ts'
import { examineClocks, examineVacuum } from './server-upkeep.ts'

const MIB = 1024 * 1024

/** `bucket`: where files are, unless they are on a disk. */
export type PostgresLook = {
  dataDir: string
  bucket: WitnessBucket | null
  now: () => number
  isServed: boolean
}

export type PostgresRead = { keys: KeyRows; findings: Finding[] }

export async function examinePostgres(settings: DatabaseSettings, look: PostgresLook): Promise<PostgresRead> {
  const { address } = settings
  try {
    const connect = connectTo(address)
    const besides = connect.servers === undefined ? [] : await chooseServer(connect.servers)
    const witness = await createFolderWitness(look.dataDir).read()
    const said: string[] = []
    const readOthers = bucketReader(look, settings, (words) => said.push(words))
    const inspection = await inspectPostgres({ ...look, connect, witness, readOthers })
    return {
      keys: { verifiers: inspection.instance?.verifiers ?? [], nodes: inspection.instance?.nodes ?? [] },
      findings: [
        ...besides.map((words) => warning('database', words, SEE)),
        ...describeServer(inspection, { address, used: connect.servers?.current() }),
        ...examineInstance(inspection, witness),
        ...said.map((words) => warning('restore', words, SEE)),
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

/** A key file that cannot be read, and a bucket that fails, are findings of their own. */
function bucketReader(
  { bucket }: PostgresLook,
  { keyFile }: DatabaseSettings,
  onWarning: (words: string) => void,
): (tag: string) => Promise<SavedWitness | null> {
  return async (tag) => {
    try {
      if (bucket === null) return null
      return await createBucketWitness({ bucket, keyring: readKeyFile(keyFile), onWarning }).read(tag)
    } catch {
      return null
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

/** `used`: the one of several servers that takes writes. */
type Reached = { address: DatabaseAddress; used: Server | undefined }

function describeServer(inspection: DatabaseInspection, { address, used }: Reached): Finding[] {
  const { facts, problems, warnings, isEncrypted, bytes } = inspection
  const { socket, tls } = used?.address ?? address
  const place = used === undefined ? '' : `, used at ${used.name}`
  const way =
    socket !== null
      ? 'over its socket'
      : isEncrypted
        ? `over TLS (${tls.mode})`
        : `not encrypted (${tls.mode})`
  const said = `${presentDatabaseAddress(address)}${place}, PostgreSQL ${facts.version}, ${way}, ${Math.ceil(bytes / MIB)} MiB`
  const weakness = warnAboutTls(address)
  const waiting = explainWaiting(facts.standbys)
  return [
    ...problems.map((words) => problem('database', words, SERVER_REMEDY)),
    ...(waiting === null ? [] : [problem('database', waiting, SEE)]),
    ...[...warnings, ...(weakness === null ? [] : [weakness])].map((words) =>
      warning('database', words, SEE),
    ),
    fine('database', `${said}; ${describeReplication(facts.standbys)}.`),
  ]
}

const LOGS_VALUES = warning(
  'database',
  'PostgreSQL logs statements with their values: sealed payloads and keys, e-mail addresses and IP addresses stay in its log after ' +
    'pushes have ended.',
  'As a superuser: ALTER DATABASE … SET log_parameter_max_length = 0. Statements are then logged without values.',
)

/** Says of standbys no more than this user of the database sees. */
function describeReplication(standbys: Standbys): string {
  const { names, named } = standbys
  const connected = `the standbys of synchronous_standby_names (${names}) that are connected (${named.join(', ')})`
  switch (judgeStandbys(standbys)) {
    case 'none':
      return 'it has no standby'
    case 'asynchronous':
      return 'its standbys may lack the last changes'
    case 'missing':
    case 'behind':
      return 'every change waits for its standbys'
    case 'unseen':
      return `whether ${connected} confirm changes is not shown to this user (${UNSEEN_REMEDY}); /readyz of a node knows by its heartbeats`
    case 'confirmed':
      return 'its standbys have each change before it is answered'
  }
}

function examineInstance({ instance, newest }: DatabaseInspection, witness: SavedWitness | null): Finding[] {
  if (instance === null) return [witness === null ? EMPTY : EMPTIED]
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
  return [tables, ...examineStanding(instance), describeNodes(instance)]
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

/** Whether the database was set back. */
function examineStanding({ halted, judgement }: InstanceInspection): Finding[] {
  if (halted !== null) return [describeRestored(halted)]
  if (judgement.is === 'foreign')
    return [
      problem(
        'restore',
        'This data folder served another database than that of --database-url.',
        'Name the right database, or another folder with --data-dir.',
      ),
    ]
  return judgement.is === 'intact' ? [] : [describeRestored(judgement.why)]
}

/** The nodes have written the remedy behind their reason. */
function describeRestored(why: string): Finding {
  return problem('restore', why.replace(` ${RESTORATION_REMEDY}`, ''), RESTORATION_REMEDY)
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
