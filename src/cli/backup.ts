// `oncebox backup`: a copy of accounts, lists, logs and settings that opens no push, as a file or a stream.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { BackupReport, BackupWish, Seal } from '../backup/backup.ts'
import type { OwnBackupWish } from '../backup/own-backup.ts'
import { backupName } from '../domain/backup-plan.ts'
import { codeOf } from '../domain/system-errors.ts'
import { ageRecipient } from '../settings/age-recipient.ts'
import { type Entry, readSettings } from '../settings/fold.ts'
import type { Place } from '../settings/parsers.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { passphraseFileProblems, readNewPassphrase, readPassphraseFile } from './ask.ts'
import { backupWarnings, presentBackup } from './backup-report.ts'
import { CommandFailure, ToldFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag, textFlags } from './flags.ts'
import { addFolderOnlyFlags, requireFolderDatabase } from './folder-only.ts'
import { formatSize } from './format.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const TABLE = {
  dataDir: settings.dataDir,
  keyFile: settings.keyFile,
  tlsAuthorityKey: settings.tlsAuthorityKey,
  minFreeSpace: settings.minFreeSpace,
}
/** For a backup that is one of the server's own. */
const OWN = {
  backupDir: settings.backupDir,
  backupKeep: settings.backupKeep,
  backupRecipients: settings.backupRecipients,
  backupAcceptFolder: settings.backupAcceptFolder,
}
const NAME = 'oncebox backup'
const PROGRESS_AFTER_MS = 1_000
/** Copying more takes about a second. */
const LARGE_BYTES = 128 * 1024 * 1024
/** Who has the file can try short passphrases without end. */
const SHORT_PASSPHRASE = 12

const HELP =
  'Makes a backup, while a server runs or without one: accounts, API tokens, lists with names and notes, audit logs, the ' +
  'settings in effect, and the instance key if it lies in the data folder. Nothing in it opens a push, now or after a ' +
  'restore: what opens pushes and their files is left out. FILE must be new; without it, the backup is ' +
  'one of those in --backup-dir, or else has a dated name in the current folder. "-" writes to standard output. Encrypted backups are age files, which the program age opens too.'

const EXAMPLES = `
Examples:
  oncebox backup                                  a dated file in the current folder, or in --backup-dir
  oncebox backup /mnt/disk/monday.tar.age --recipient age1…
  oncebox backup - --recipient age1… | ssh backup@nas 'cat > oncebox.tar.age'
  oncebox backup verify /mnt/disk/monday.tar.age`

const OF_POSTGRES = {
  does: '"oncebox backup" copies a database in a data folder',
  instead: 'Back it up with pg_dump or point-in-time recovery: see docs/beyond-one-machine.md.',
}

/** The group that commands on backups join. */
export function addBackupCommand(program: Command, { shell, app }: { shell: Shell; app: App }): Command {
  const command = program.command('backup').usage('[FILE|-] [flags]')
  command.summary('make a backup that opens no push').description(HELP).addHelpText('after', EXAMPLES)
  addTextFlag(command, '--recipient <age-key>', 'Encrypt for this public key of age (age1…); may be repeated')
  command.option('--passphrase', 'Encrypt with a passphrase, which is asked for twice')
  addTextFlag(command, '--passphrase-file <path>', 'Encrypt with the passphrase in a file')
  command.option('--json', 'Print what was made as JSON')
  addSettingFlags(command, { ...TABLE, ...OWN })
  addFolderOnlyFlags(command)
  return command.action(async () => {
    const { wish, isJson } = await readCommandLine(command, shell)
    const report = await backUp(wish, { shell, app })
    tell(report, { isJson, shell })
    if (report.damage.length > 0) throw new ToldFailure(1)
  })
}

async function backUp(
  wish: BackupWish | OwnBackupWish,
  { shell, app }: { shell: Shell; app: App },
): Promise<BackupReport> {
  const begun = performance.now()
  const progress = shell.startProgress('Backup', () => 'cancelled; no backup was made')
  // The copy itself shows no progress.
  const onCopying = (bytes: number) => {
    if (bytes > LARGE_BYTES) shell.say(`Copying the database (${formatSize(bytes)}) …`)
  }
  const onProgress = (done: number, total: number) => {
    if (performance.now() - begun > PROGRESS_AFTER_MS) progress.update(Math.min(done, total), total)
  }
  try {
    const { now, writeBytes: writeOutput, giveWay: onCopied } = shell
    const ports = { now, writeOutput, onCopying, onCopied, onProgress }
    return await ('folder' in wish ? app.backUpInFolder(wish, ports) : app.backUp(wish, ports))
  } catch (cause) {
    if (codeOf(cause) !== 'EPIPE') throw cause
    throw new CommandFailure('Nobody reads standard output any more: the backup there is not whole.')
  } finally {
    progress.stop()
  }
}

function tell(report: BackupReport, { isJson, shell }: { isJson: boolean; shell: Shell }): void {
  for (const warning of backupWarnings(report)) shell.say(`oncebox: warning: ${warning}`)
  const print = report.file === null ? shell.say : shell.print
  if (isJson) print(JSON.stringify(report))
  else for (const line of presentBackup(report)) print(line)
}

async function readCommandLine(
  command: Command,
  shell: Shell,
): Promise<{ wish: BackupWish | OwnBackupWish; isJson: boolean }> {
  const { operands, problems } = readOperands(command, { names: ['FILE'], optional: 1 })
  const [operand] = operands
  const place = placeWithService(shell, givenFlags(command, TABLE))
  requireFolderDatabase(command, { ...OF_POSTGRES, place, shell })
  const { config, entries, problems: wrong = [] } = readSettingsFor(command, place, shell)
  const own = readOwn(command, { operand, place, shell })
  const all = [...problems, ...fileProblems(operand), ...sealProblems(command), ...own.problems, ...wrong]
  if (all.length > 0 || config === undefined) throw new UsageError(all, NAME)
  if (operand === '-' && shell.isOutputTerminal)
    throw new CommandFailure('A terminal shows no backup: name a FILE, or redirect standard output.')
  const given = await readSeal(command, shell)
  warnOfShortPassphrase(given, shell)
  const seal = given ?? own.seal
  const rest = { ...config, settings: entries.map(presentSetting), seal }
  const wish =
    own.target === null
      ? { ...rest, file: fileFor(operand, { shell, isSealed: seal !== null }) }
      : { ...rest, ...own.target }
  return { wish, isJson: command.getOptionValue('json') === true }
}

type Own = {
  /** Null for a backup that goes elsewhere. */
  target: Pick<OwnBackupWish, 'folder' | 'keep' | 'acceptFolder'> | null
  seal: Seal | null
  problems: string[]
}

/** FILE goes before the settings of the server. */
function readOwn(
  command: Command,
  { operand, place, shell }: { operand: string | undefined; place: Place; shell: Shell },
): Own {
  const flags = givenFlags(command, OWN)
  const isAsked = Object.values(flags).some((values) => values !== undefined)
  const none = { target: null, seal: null, problems: [] }
  if (operand !== undefined)
    return isAsked ? { ...none, problems: ['FILE and --backup-dir: give only one of them'] } : none
  const { config, problems = [] } = readSettings(OWN, { flags, place, readFile: shell.readFile })
  if (config === undefined) return { ...none, problems }
  const { backupDir: folder, backupKeep: keep, backupRecipients: recipients } = config
  if (folder === null) return isAsked ? { ...none, problems: [NO_FOLDER] } : none
  const target = { folder, keep, acceptFolder: config.backupAcceptFolder }
  return { target, seal: recipients.length === 0 ? null : { recipients }, problems: [] }
}

const NO_FOLDER = '--backup-keep, --backup-recipient and --backup-accept-folder need --backup-dir'

/** `entries` are those of all settings of the server. If one of them is wrong, only those that a backup needs. */
function readSettingsFor(command: Command, place: Place, { readFile }: Shell) {
  const sources = { flags: givenFlags(command, TABLE), place, readFile }
  const reading = readSettings(TABLE, sources)
  const entries = readSettings(settings, sources).entries ?? reading.entries ?? []
  return { config: reading.config, entries, problems: reading.problems }
}

function presentSetting({ setting: { flag }, text, from, isChanged }: Entry) {
  return { flag, value: text, from, isChanged }
}

function fileProblems(operand = ''): string[] {
  return /[/\\]$/.test(operand) ? [`FILE ${JSON.stringify(operand)}: must name a file, not a folder`] : []
}

function warnOfShortPassphrase(seal: Seal | null, { say }: Shell): void {
  if (seal === null || !('passphrase' in seal) || seal.passphrase.length >= SHORT_PASSPHRASE) return
  say('oncebox: warning: who gets this file can guess so short a passphrase. Four random words are better.')
}

/** Null for standard output. */
function fileFor(
  operand: string | undefined,
  { shell, isSealed }: { shell: Shell; isSealed: boolean },
): string | null {
  if (operand === '-') return null
  const { cwd } = shell.place
  return resolve(cwd, operand ?? backupName({ at: shell.now(), isSealed }))
}

function sealProblems(command: Command): string[] {
  const recipients = recipientsOf(command)
  const ways = [recipients.length > 0, isAsked(command), textFlag(command, 'passphrase-file') !== undefined]
  return [
    ...recipients.flatMap((text) => recipientProblem(text) ?? []),
    ...passphraseFileProblems(command),
    ...(ways.filter(Boolean).length > 1
      ? ['--recipient, --passphrase and --passphrase-file: give only one kind of them']
      : []),
  ]
}

/** Never repeats a secret key. */
function recipientProblem(text: string): string | null {
  const parsed = ageRecipient(text)
  if ('value' in parsed) return null
  const shown = 'isSecret' in parsed ? '(hidden)' : JSON.stringify(text)
  return `--recipient ${shown}: ${parsed.problem}`
}

/** As the setting for the backups of a server, a flag may hold several keys with commas. */
function recipientsOf(command: Command): string[] {
  return textFlags(command, 'recipient').flatMap((text) => text.split(',').map((key) => key.trim()))
}

function isAsked(command: Command): boolean {
  return command.getOptionValue('passphrase') === true
}

async function readSeal(command: Command, shell: Shell): Promise<Seal | null> {
  const recipients = recipientsOf(command)
  if (recipients.length > 0) return { recipients }
  const path = textFlag(command, 'passphrase-file')
  if (path !== undefined) return { passphrase: readPassphraseFile(path, { shell, command: 'backup' }) }
  return isAsked(command) ? { passphrase: await readNewPassphrase(shell, 'Passphrase of the backup') } : null
}
