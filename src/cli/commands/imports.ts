// `oncebox import …`: imports all data of another server into a new or stopped data folder, or into
// PostgreSQL.

import type { Imported } from '../../app/import-command.ts'
import { type DatabaseAddress, parseDatabaseAddress } from '../../domain/database-address.ts'
import { bucketProblemsIn } from '../../settings/bucket.ts'
import { databaseProblemsIn } from '../../settings/database.ts'
import type { Parsed } from '../../settings/parsers.ts'
import { command, some, toggle, valued } from '../command.ts'
import { ReportedFailure } from '../failures.ts'
import { formatCount, formatSize } from '../format.ts'
import { anyPath, fileText } from '../paths.ts'
import { createTellProgress } from '../progress.ts'
import type { Shell } from '../shell.ts'

/** `address` is null for a file. */
type Source = { text: string; address: DatabaseAddress | null }

function source(text: string): Parsed<Source> {
  const address = parseDatabaseAddress(text)
  if (address !== null && 'problem' in address) return { problem: address.problem, isSecret: true }
  return text === '' ? { problem: 'must be a path or an address' } : { value: { text, address } }
}

export const IMPORTS = [
  { name: 'import' },
  command({
    name: 'import password-pusher',
    flags: {
      database: valued('database <file|address>', source),
      databasePasswordFile: valued('database-password-file <file>', fileText),
      storage: valued('storage <folder>', anyPath),
      masterKeyFile: valued('master-key-file <file>', anyPath),
      previousKeysFile: valued('previous-master-keys-file <file>', anyPath),
      dryRun: toggle('dry-run'),
      verify: toggle('verify'),
    },
    oneOf: [['dryRun', 'verify']],
    settings: some(
      ...(['dataDir', 'keyFile', 'filesUrl', 's3AccessKeyId', 's3SecretAccessKey'] as const),
      ...(['databaseUrl', 'databasePassword', 'databaseConnections', 'minFreeSpace', 'maxClockGap'] as const),
    ),
    isOnData: true,
    problems: ({ flags: { database, databasePasswordFile }, config }) => [
      database === null && '--database is missing',
      database?.address === null &&
        databasePasswordFile !== null &&
        '--database-password-file: only with the address of a server',
      ...bucketProblemsIn(config),
      ...databaseProblemsIn(config),
    ],
    act: async ({ flags, config, shell, app }) => {
      const { dryRun, verify, storage, masterKeyFile, previousKeysFile } = flags
      const { text: database = '', address = null } = flags.database ?? {}
      const { now, uptime, readFile, say } = shell
      const tell = createTellProgress(shell)
      const imported = await app.importCommand(
        {
          ...{ ...config, database, storage, masterKeyFile, previousKeysFile },
          sourcePassword: flags.databasePasswordFile ?? (address && findPassword(address, shell)),
          mode: dryRun ? 'dry-run' : verify ? 'verify' : 'import',
        },
        {
          ...{ now, uptime, readFile, say },
          onProgress: (step, done, total) => tell(`${step}: ${done} of ${total} pushes`),
        },
      )
      if (imported.mode !== 'verify') return shell.print(...presentImport(imported))
      shell.print(...presentVerification(imported.report))
      if (imported.report.differences.length > 0) throw new ReportedFailure(1)
    },
  }),
]

const PASSWORD_VARIABLES = { postgres: 'PGPASSWORD', mysql: 'MYSQL_PWD' } as const

/**
 * Returns the password from the variable that the database's own client reads; null if the address has one.
 */
function findPassword({ password, engine }: DatabaseAddress, { say, os }: Shell): string | null {
  if (password === null) return os.env[PASSWORD_VARIABLES[engine]] ?? null
  const flag = '--database-password-file'
  say(`The password is in --database, where other users of this machine can see it: use ${flag}.`)
  return null
}

type ImportResult = Extract<Imported, { mode: 'import' | 'dry-run' }>
type VerifyResult = Extract<Imported, { mode: 'verify' }>
type Finding = ImportResult['report']['failures'][number]

function presentImport({ mode, report, source }: ImportResult): string[] {
  const isDry = mode === 'dry-run'
  const { accounts, pushes, files, apiTokens, secondFactors, notes, failures } = report
  const disabled = accounts.disabled > 0 ? ` (${accounts.disabled} disabled)` : ''
  return [
    `${isDry ? 'Would import' : 'Imported'} from Password Pusher (tables of version ${source.version}):`,
    `  ${formatCount(accounts.came, 'account')}${disabled}, ${formatCount(apiTokens, 'API token')}, ${formatCount(secondFactors, 'second factor')}`,
    `  ${formatCount(pushes.live, 'active push', 'active pushes')} with ${formatCount(files.count, 'file')} (${formatSize(files.bytes)}), ${pushes.expired} expired`,
    ...(accounts.known + pushes.known > 0
      ? [`  already known here: ${formatCount(accounts.known, 'account')}, ${pushes.known} pushes`]
      : []),
    ...listed(isDry ? 'Would be changed' : 'Changed', notes),
    ...listed(isDry ? 'Would not be imported' : 'Not imported', failures),
    ...(secondFactors > 0 ? [NEW_CODES] : []),
    ...(source.isDefaultKey ? [KNOWN_KEY] : []),
  ]
}

const NEW_CODES =
  'Recovery codes cannot move: people with a second factor make new ones by setting it up again on their account page.'

const KNOWN_KEY =
  'The old server used the key that Password Pusher publishes: anyone who had its database could read every secret. ' +
  'Change the passwords that were shared there.'

function presentVerification({ accounts, live, expired, gone, ...report }: VerifyResult['report']): string[] {
  const removed = gone > 0 ? `, ${gone} gone since` : ''
  return [
    `Compared ${formatCount(accounts, 'account')}, ${live} active and ${expired} expired pushes${removed}.`,
    ...listed('Cannot be read in the source', report.failures),
    ...listed('Different', report.differences),
    ...(report.differences.length === 0 ? ['Everything that could be compared is the same.'] : []),
  ]
}

function listed(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  return [`${title} (${findings.length}):`, ...findings.map(({ place, what }) => `  ${place}: ${what}`)]
}
