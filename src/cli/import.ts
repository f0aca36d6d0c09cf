// `oncebox import …`: brings everything of another server into a new or stopped data folder, or into PostgreSQL.

import type { Imported } from '../app/import-command.ts'
import type { DatabaseAddress } from '../domain/database-address.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { bucketSettingsOf } from '../settings/bucket.ts'
import { databaseSettingsOf } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { Given } from './command.ts'
import { CommandFailure, ToldFailure } from './failures.ts'
import { formatCount, formatSize } from './format.ts'
import { createTellProgress } from './progress.ts'
import type { Shell } from './shell.ts'

type ImportFlags = {
  /** `address` is null for a file. */
  database: { text: string; address: DatabaseAddress | null } | null
  databasePasswordFile: string | null
  storage: string | null
  masterKeyFile: string | null
  previousMasterKeysFile: string | null
  dryRun: boolean
  verify: boolean
}

type ImportConfig = Pick<
  Config,
  | 'dataDir'
  | 'keyFile'
  | 'filesUrl'
  | 's3AccessKeyId'
  | 's3SecretAccessKey'
  | 'databaseUrl'
  | 'databasePassword'
  | 'databaseConnections'
  | 'minFreeSpace'
  | 'maxClockGap'
>

export async function importFrom({
  flags,
  config,
  shell,
  app,
}: Given<ImportFlags, ImportConfig>): Promise<void> {
  const { dataDir, keyFile, minFreeSpace, maxClockGap } = config
  const { text: database = '', address = null } = flags.database ?? {}
  const tell = createTellProgress(shell)
  const imported = await app.importCommand(
    {
      database,
      databasePassword: address && readPassword(address, flags.databasePasswordFile, shell),
      storage: flags.storage,
      masterKeyFile: flags.masterKeyFile,
      previousKeysFile: flags.previousMasterKeysFile,
      mode: flags.dryRun ? 'dry-run' : flags.verify ? 'verify' : 'import',
      ...{ dataDir, keyFile, minFreeSpace, maxClockGap },
      server: databaseSettingsOf(config),
      bucket: bucketSettingsOf(config),
    },
    {
      now: shell.now,
      uptime: shell.uptime,
      readFile: shell.readFile,
      say: shell.say,
      onProgress: (step, done, total) => tell(`${step}: ${done} of ${total} pushes`),
    },
  )
  const isVerified = imported.mode === 'verify'
  const lines = isVerified ? presentVerification(imported.report) : presentImport(imported)
  for (const line of lines) shell.print(line)
  if (isVerified && imported.report.differences.length > 0) throw new ToldFailure(1)
}

const PASSWORD_VARIABLES = { postgres: 'PGPASSWORD', mysql: 'MYSQL_PWD' } as const

/** The file's, else the address's (null), else the variable's, as the servers' own clients do. */
function readPassword(address: DatabaseAddress, path: string | null, shell: Shell): string | null {
  if (path !== null) return readPasswordFile(path, shell)
  if (address.password === null) return shell.place.env[PASSWORD_VARIABLES[address.engine]] ?? null
  const flag = '--database-password-file'
  shell.say(
    `While the password stands in --database, other users of this machine may see it: ${flag} hides it.`,
  )
  return null
}

function readPasswordFile(path: string, shell: Shell): string {
  try {
    return shell.readFile(path).replace(/\r?\n$/, '')
  } catch (cause) {
    const why = refusalOf(cause)
    throw new CommandFailure(`--database-password-file ${JSON.stringify(path)} cannot be read: ${why}.`)
  }
}

type Brought = Extract<Imported, { mode: 'import' | 'dry-run' }>
type Verified = Extract<Imported, { mode: 'verify' }>
type Finding = Brought['report']['failures'][number]

function presentImport({ mode, report, source }: Brought): string[] {
  const isDry = mode === 'dry-run'
  const { accounts, pushes, files, apiTokens, secondFactors, notes, failures } = report
  const disabled = accounts.disabled > 0 ? ` (${accounts.disabled} disabled)` : ''
  return [
    `${isDry ? 'Would import' : 'Imported'} from Password Pusher (tables of version ${source.version}):`,
    `  ${formatCount(accounts.came, 'account')}${disabled}, ${formatCount(apiTokens, 'API token')}, ${formatCount(secondFactors, 'second factor')}`,
    `  ${pushes.live} active ${pushes.live === 1 ? 'push' : 'pushes'} with ${formatCount(files.count, 'file')} (${formatSize(files.bytes)}), ${pushes.expired} expired`,
    ...(accounts.known + pushes.known > 0
      ? [`  already known here: ${formatCount(accounts.known, 'account')}, ${pushes.known} pushes`]
      : []),
    ...listed(isDry ? 'Would come otherwise than it was' : 'Came otherwise than it was', notes),
    ...listed(isDry ? 'Would not come' : 'Did not come', failures),
    ...adviceOf({ report, source }),
  ]
}

function adviceOf({ report, source }: Pick<Brought, 'report' | 'source'>): string[] {
  const advice: string[] = []
  if (report.secondFactors > 0)
    advice.push(
      'Recovery codes cannot move: people with a second factor make new ones by setting it up again on their account page.',
    )
  if (source.isDefaultKey)
    advice.push(
      'The old server used the key that Password Pusher publishes: who ever had its database could read every secret. ' +
        'Change the passwords that were shared there.',
    )
  return advice
}

function presentVerification(report: Verified['report']): string[] {
  const { accounts, live, expired, gone, failures, differences } = report
  const removed = gone > 0 ? `, ${gone} gone since` : ''
  return [
    `Compared ${formatCount(accounts, 'account')}, ${live} active and ${expired} expired pushes${removed}.`,
    ...listed('Cannot be read in the source', failures),
    ...listed('Different', differences),
    ...(differences.length === 0 ? ['Everything that could be compared is the same.'] : []),
  ]
}

function listed(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  return [`${title} (${findings.length}):`, ...findings.map(({ place, what }) => `  ${place}: ${what}`)]
}
