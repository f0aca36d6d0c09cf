// `oncebox import …`: brings everything of another server into a new or stopped data folder, or into PostgreSQL.

import type { Command } from 'commander'
import type { ImportWish } from '../app/import-command.ts'
import { type DatabaseAddress, parseDatabaseAddress } from '../domain/database-address.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { bucketProblemsIn, bucketSettingsOf } from '../settings/bucket.ts'
import { databaseProblemsIn, databaseSettingsOf, databaseWarnings } from '../settings/database.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import { addGroup } from './account-command.ts'
import type { App } from './app.ts'
import { CommandFailure, ToldFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, isGiven, readOperands, textFlag } from './flags.ts'
import { presentImport, presentVerification } from './import-report.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const TABLE = {
  dataDir: settings.dataDir,
  keyFile: settings.keyFile,
  filesUrl: settings.filesUrl,
  s3AccessKeyId: settings.s3AccessKeyId,
  s3SecretAccessKey: settings.s3SecretAccessKey,
  databaseUrl: settings.databaseUrl,
  databasePassword: settings.databasePassword,
  databaseConnections: settings.databaseConnections,
  minFreeSpace: settings.minFreeSpace,
  maxClockGap: settings.maxClockGap,
}
const NAME = 'oncebox import password-pusher'
const PROGRESS_MS = 2_000

const HELP =
  'Brings pushes with their links, files and logs, accounts with their passwords and second factors, and API tokens from ' +
  'a Password Pusher 2.x into a new or stopped data folder, or into PostgreSQL (--database-url) while no node serves it. Stop ' +
  'the old server first. Its data is only read. Either everything comes that can, or nothing; what cannot come is listed, with ' +
  'the reason. A repeated import adds nothing twice, and brings nothing back that was opened, has expired or was removed here.'

const EXAMPLES = `
Examples:
  ${NAME} --database storage/db/production.sqlite3 --storage storage --master-key-file master.key --dry-run
  ${NAME} --database storage/db/production.sqlite3 --storage storage --master-key-file master.key
  ${NAME} --database storage/db/production.sqlite3 --storage storage --master-key-file master.key --verify
  ${NAME} --database postgres://pwpush@db/pwpush --database-password-file password --storage storage --master-key-file master.key`

export function addImportCommands(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const group = addGroup(program, {
    name: 'import',
    summary: 'bring everything of a Password Pusher here',
    help: 'Brings everything of another server into a new or stopped data folder, or into PostgreSQL.',
    examples: EXAMPLES,
  })
  const command = group.command('password-pusher').usage('--database FILE|ADDRESS [flags]')
  command.summary('bring pushes, accounts and tokens of a Password Pusher 2.x').description(HELP)
  command.addHelpText('after', EXAMPLES)
  addTextFlag(
    command,
    '--database <file|address>',
    "the old server's SQLite file, or its DATABASE_URL: postgres://… or mysql://…",
  )
  addTextFlag(
    command,
    '--database-password-file <file>',
    'file with the password for that address, so that it need not stand on the command line. ' +
      'Environment: PGPASSWORD, MYSQL_PWD',
  )
  addTextFlag(command, '--storage <folder>', "the old server's folder of files")
  addTextFlag(
    command,
    '--master-key-file <file>',
    'file with its PWPUSH_MASTER_KEY, 64 hex digits; without it the key that Password Pusher publishes',
  )
  addTextFlag(command, '--previous-master-keys-file <file>', 'file with its PWPUSH_MASTER_KEY_PREVIOUS')
  command.option('--dry-run', 'only tell what would come, and what would not and why')
  command.option('--verify', 'import nothing, but compare what is here with the source; opens no view')
  addSettingFlags(command, TABLE)
  command.action(async () => {
    const wish = readCommandLine(command, shell)
    const imported = await app.importCommand(wish, {
      now: shell.now,
      uptime: shell.uptime,
      readFile: shell.readFile,
      say: shell.say,
      onProgress: createProgress(shell),
    })
    if (imported.mode !== 'verify') {
      for (const line of presentImport(imported)) shell.print(line)
      return
    }
    for (const line of presentVerification(imported.report)) shell.print(line)
    if (imported.report.differences.length > 0) throw new ToldFailure(1)
  })
}

/** A line every few seconds, also where nobody watches a terminal. */
function createProgress({ say }: Shell) {
  let toldAt = performance.now()
  return (step: string, done: number, total: number) => {
    const now = performance.now()
    if (now - toldAt < PROGRESS_MS) return
    toldAt = now
    say(`… ${step}: ${done} of ${total} pushes`)
  }
}

function readCommandLine(command: Command, shell: Shell): ImportWish {
  const { problems } = readOperands(command, { names: [] })
  const flags = givenFlags(command, TABLE)
  const place = placeWithService(shell, flags)
  const reading = readSettings(TABLE, { flags, place, readFile: shell.readFile })
  const [isDry, isVerify] = [isGiven(command, 'dryRun'), isGiven(command, 'verify')]
  const database = textFlag(command, 'database') ?? ''
  const address = parseDatabaseAddress(database)
  const all = [
    ...problems,
    ...(database === '' ? ['--database is missing'] : []),
    ...(address !== null && 'problem' in address ? [`--database: ${address.problem}`] : []),
    ...['database-password-file', 'storage', 'master-key-file', 'previous-master-keys-file']
      .filter((name) => textFlag(command, name) === '')
      .map((name) => `--${name}: the value is missing`),
    ...(address === null && database !== '' && textFlag(command, 'database-password-file') !== undefined
      ? ['--database-password-file: only with the address of a server']
      : []),
    ...(isDry && isVerify ? ['--dry-run and --verify: give only one of them'] : []),
    ...(reading.problems ?? []),
    ...(reading.config === undefined
      ? []
      : [...bucketProblemsIn(reading.config), ...databaseProblemsIn(reading.config)]),
  ]
  if (all.length > 0 || reading.config === undefined) throw new UsageError(all, NAME)
  for (const warning of databaseWarnings(flags)) shell.say(`oncebox: warning: ${warning}`)
  const { dataDir, keyFile, minFreeSpace, maxClockGap } = reading.config
  return {
    database,
    databasePassword: address === null || 'problem' in address ? null : readPassword(address, command, shell),
    storage: textFlag(command, 'storage') ?? null,
    masterKeyFile: textFlag(command, 'master-key-file') ?? null,
    previousKeysFile: textFlag(command, 'previous-master-keys-file') ?? null,
    mode: isDry ? 'dry-run' : isVerify ? 'verify' : 'import',
    ...{ dataDir, keyFile, minFreeSpace, maxClockGap },
    server: databaseSettingsOf(reading.config),
    bucket: bucketSettingsOf(reading.config),
  }
}

const PASSWORD_VARIABLES = { postgres: 'PGPASSWORD', mysql: 'MYSQL_PWD' } as const

/** The file's, else the address's (null), else the variable's, as the servers' own clients do. */
function readPassword(address: DatabaseAddress, command: Command, shell: Shell): string | null {
  const path = textFlag(command, 'database-password-file')
  if (path !== undefined) return readPasswordFile(path, shell)
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
