// `oncebox backup`: a copy of accounts, lists, logs and settings that opens no push, as a file or a stream.

import { resolve } from 'node:path'
import { type BackupReport, type BackupWish, backUp, type Seal } from '../backup/backup.ts'
import { backUpInFolder, type OwnBackupWish } from '../backup/own-backup.ts'
import { backupName } from '../domain/backup-plan.ts'
import { codeOf } from '../domain/system-errors.ts'
import { type Entry, readSettings } from '../settings/fold.ts'
import { type Config, settings } from '../settings/table.ts'
import { readNewPassphrase, readPassphraseFile } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure, ToldFailure } from './failures.ts'
import { formatCount, formatSize, quote } from './format.ts'
import { STANDARD } from './paths.ts'
import type { Shell } from './shell.ts'

const PROGRESS_AFTER_MS = 1_000
/** Copying more takes about a second. */
const LARGE_BYTES = 128 * 1024 * 1024
/** Who has the file can try short passphrases without end. */
const SHORT_PASSPHRASE = 12

type BackupFlags = {
  recipient: string[]
  passphrase: boolean
  passphraseFile: string | null
  json: boolean
}
type BackupConfig = Pick<
  Config,
  | 'dataDir'
  | 'keyFile'
  | 'tlsAuthorityKey'
  | 'minFreeSpace'
  | 'backupDir'
  | 'backupKeep'
  | 'backupRecipients'
  | 'backupAcceptFolder'
>
type Backup = Given<BackupFlags, BackupConfig>

export async function backup(given: Backup): Promise<void> {
  const { flags, shell } = given
  const report = await make(await readWish(given), shell)
  tell(report, { isJson: flags.json, shell })
  if (report.leftOut > 0) throw new ToldFailure(1)
}

/** FILE goes before the settings of the server. */
async function readWish(given: Backup): Promise<BackupWish | OwnBackupWish> {
  const { operands, config, shell } = given
  const [operand] = operands
  if (operand === STANDARD && shell.isOutputTerminal)
    throw new CommandFailure('A terminal shows no backup: name a FILE, or redirect standard output.')
  const asked = await readSeal(given)
  warnOfShortPassphrase(asked, shell)
  const { dataDir, keyFile, tlsAuthorityKey, minFreeSpace } = config
  const rest = { dataDir, keyFile, tlsAuthorityKey, minFreeSpace, settings: settingsOf(given) }
  const { backupDir: folder, backupKeep: keep, backupAcceptFolder: acceptFolder } = config
  if (operand === undefined && folder !== null) {
    const recipients = config.backupRecipients
    return {
      ...rest,
      seal: asked ?? (recipients.length === 0 ? null : { recipients }),
      folder,
      keep,
      acceptFolder,
    }
  }
  const name = operand ?? backupName({ at: shell.now(), isSealed: asked !== null })
  return { ...rest, seal: asked, file: operand === STANDARD ? null : resolve(shell.place.cwd, name) }
}

async function readSeal({ flags, shell }: Backup): Promise<Seal | null> {
  if (flags.recipient.length > 0) return { recipients: flags.recipient }
  if (flags.passphraseFile !== null)
    return { passphrase: readPassphraseFile(flags.passphraseFile, { shell, command: 'backup' }) }
  return flags.passphrase ? { passphrase: await readNewPassphrase(shell, 'Passphrase of the backup') } : null
}

/** All settings of the server. If one of them is wrong, only those that a backup needs. */
function settingsOf({ raw, entries, shell: { place, readFile } }: Backup) {
  const all = readSettings(settings, { flags: raw, place, readFile }).entries ?? entries
  return all.map(presentSetting)
}

function presentSetting({ setting: { flag }, text, from, isChanged }: Entry) {
  return { flag, value: text, from, isChanged }
}

function warnOfShortPassphrase(seal: Seal | null, { say }: Shell): void {
  if (seal === null || !('passphrase' in seal) || seal.passphrase.length >= SHORT_PASSPHRASE) return
  say('oncebox: warning: who gets this file can guess so short a passphrase. Four random words are better.')
}

async function make(wish: BackupWish | OwnBackupWish, shell: Shell): Promise<BackupReport> {
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
    const { now, writeBytes: writeOutput } = shell
    shell.giveWay()
    const ports = { now, writeOutput, onCopying, onProgress }
    return await ('folder' in wish ? backUpInFolder(wish, ports) : backUp(wish, ports))
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

const SETTINGS: Record<BackupReport['settingsFrom'], string> = {
  server: 'the settings of the running server',
  'last server': 'the settings of the server that ran last',
  'command line': 'the settings of this command line (no server has run here)',
}

function presentBackup({ file, bytes, isSealed, ...report }: BackupReport): string[] {
  const name = file === null ? 'Standard output' : file
  const { accounts, pushes } = report
  return [
    `${name}: a backup of ${formatSize(bytes)}, ${isSealed ? 'encrypted' : 'not encrypted'}.`,
    `In it: ${[
      formatCount(accounts, 'account'),
      `${pushes === 1 ? '1 push' : `${pushes} pushes`} as lists with names, notes and logs`,
      SETTINGS[report.settingsFrom],
      ...(report.key === 'included' ? ['the instance key'] : []),
      ...(report.tlsAuthority === 'included' ? ['the TLS authority with its key'] : []),
    ].join(', ')}.`,
    'Not in it: whatever opens a push or a file, sessions, one-time links. A restore brings live pushes back as expired.',
    file === null
      ? 'Check it where it arrived: oncebox backup verify FILE'
      : `Check it: oncebox backup verify ${shellWord(file)}`,
  ]
}

function shellWord(path: string): string {
  return /^[\w./:@%+,-]+$/.test(path) ? path : quote(path)
}

function backupWarnings({ isSealed, key, tlsAuthority, leftOut }: BackupReport): string[] {
  return [
    ...(key === 'included' && !isSealed ? [OPEN_KEY] : []),
    ...(KEYS[key] ?? []),
    ...(AUTHORITIES[tlsAuthority] ?? []),
    // The log of a server that made it tells this line.
    ...(leftOut > 0
      ? [
          `the database is damaged: ${formatCount(leftOut, 'row')} could not be copied; keep the earlier backups`,
        ]
      : []),
  ]
}

const OPEN_KEY =
  'the instance key is in this backup, and the backup is not encrypted: who reads it can read the names and notes that ' +
  'accounts keep, and their second factors. Keep it to yourself, or encrypt it (--recipient, --passphrase).'

const LOST_KEY = 'Without it, this backup cannot be restored.'

const KEYS: Partial<Record<BackupReport['key'], string[]>> = {
  elsewhere: [
    `the instance key is kept outside the data folder, so it is not in this backup: keep a copy of it yourself. ${LOST_KEY}`,
  ],
  missing: [`there is no instance key in the data folder, so none is in this backup. ${LOST_KEY}`],
  unreadable: [`the key file cannot be read, so it is not in this backup. ${LOST_KEY}`],
  foreign: [
    `the key file belongs to another database, so it is not in this backup. Name the right one with --key-file. ${LOST_KEY}`,
  ],
}

const AUTHORITIES: Partial<Record<BackupReport['tlsAuthority'], string[]>> = {
  unsealed: [
    'the TLS authority is left out, because who has its key can pose as this server, and this backup is not encrypted ' +
      '(--recipient, --passphrase). Without it, every device has to trust a new one after a restore.',
  ],
  elsewhere: [
    'the TLS authority is kept outside the data folder, so it is not in this backup: keep a copy of it yourself.',
  ],
  unreadable: ['the file of the TLS authority cannot be read, so it is not in this backup.'],
}
