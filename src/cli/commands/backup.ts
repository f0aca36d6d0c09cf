// `oncebox backup`: a copy of accounts, lists, logs and settings that opens no push, as a file or a stream.

import { resolve } from 'node:path'
import type { BackupReport, Seal } from '../../backup/backup.ts'
import { ageRecipient } from '../../domain/age-recipient.ts'
import { backupName } from '../../domain/backup-plan.ts'
import { readSettings } from '../../settings/fold.ts'
import type { Values } from '../../settings/setting.ts'
import { settings } from '../../settings/table.ts'
import { readNewPassphrase } from '../ask.ts'
import { type CommandInput, command, repeated, some, toggle, valued } from '../command.ts'
import { CommandFailure, ReportedFailure } from '../failures.ts'
import { formatCount, formatSize, shellWord } from '../format.ts'
import { fileText, STANDARD } from '../paths.ts'

const flags = {
  recipient: repeated('recipient <age-key>', (text) => ageRecipient(text.trim())),
  passphrase: toggle('passphrase'),
  passphraseFile: valued('passphrase-file <path>', fileText),
  json: toggle('json'),
}
const needed = some('dataDir', 'keyFile', 'tlsAuthorityKey', 'minFreeSpace')
const inFolder = some('backupDir', 'backupKeep', 'backupRecipients')

type Backup = CommandInput<Values<typeof flags>, Values<typeof needed & typeof inFolder>>

export const BACKUP = command({
  name: 'backup',
  operands: '[FILE|-]',
  flags,
  oneOf: [['recipient', 'passphrase', 'passphraseFile']],
  settings: { ...needed, ...inFolder },
  isOnData: true,
  onlyFolder: {
    does: '"oncebox backup" copies a database in a data folder',
    instead: 'Back it up with pg_dump or point-in-time recovery: see docs/beyond-one-machine.md.',
  },
  problems: ({ operands: [file], raw, config }) => {
    const isAsked = Object.values(inFolder).some(({ flag }) => raw[flag] !== undefined)
    if (file !== undefined)
      return [
        /[/\\]$/.test(file) && `FILE ${JSON.stringify(file)}: must name a file, not a folder`,
        isAsked && 'FILE and --backup-dir: give only one of them',
      ]
    const needsFolder = isAsked && config.backupDir === null
    return [needsFolder && '--backup-keep and --backup-recipient need --backup-dir']
  },
  act: async (given) => {
    const { operands, shell } = given
    if (operands[0] === STANDARD && shell.isOutputTerminal)
      throw new CommandFailure('A terminal shows no backup: name a FILE, or redirect standard output.')
    const seal = await readSeal(given)
    if (seal !== null && 'passphrase' in seal && seal.passphrase.length < SHORT_PASSPHRASE)
      shell.warn(
        'this passphrase is short enough to be guessed by anyone who gets the file. Use four random words.',
      )
    const report = await make(given, seal)
    shell.warn(...warningsOf(report))
    const print = report.file === null ? shell.say : shell.print
    print(...(given.flags.json ? [JSON.stringify(report)] : presentBackup(report)))
    if (report.leftOut > 0) throw new ReportedFailure(1)
  },
})

/**
 * A warning is shown for shorter passphrases, because an attacker with the file can try any number of them.
 */
const SHORT_PASSPHRASE = 12

async function readSeal({ flags, shell }: Backup): Promise<Seal | null> {
  if (flags.recipient.length > 0) return { recipients: flags.recipient }
  if (flags.passphraseFile !== null) return { passphrase: flags.passphraseFile }
  return flags.passphrase ? { passphrase: await readNewPassphrase(shell, 'Passphrase of the backup') } : null
}

/**
 * Reads --backup-dir and the settings that go with it, from the running server if this command line names no
 * destination. Throws CommandFailure when the server's settings cannot be read: falling back to an
 * unencrypted backup in the current folder could contradict them.
 */
async function readFolder({ operands, config, app, shell }: Backup): Promise<Values<typeof inFolder>> {
  const isGiven = operands.length > 0 || config.backupDir !== null
  const serving = isGiven ? null : await app.findServing(config.dataDir)
  if (serving === null) return config
  const noted = (serving.settings ?? []).filter(({ from }) => from !== 'default')
  const flags = Object.fromEntries(noted.map(({ flag, value }) => [flag, [value]]))
  const { os, readFile } = shell
  const read = readSettings(inFolder, { flags, os: { ...os, env: {} }, readFile }).config
  if (serving.settings === null || read === undefined)
    throw new CommandFailure(
      `The settings of the server that runs on ${config.dataDir} cannot be read: name a FILE, or the folder of its backups with --backup-dir.`,
    )
  if (read.backupDir !== null)
    shell.say(`Using the settings of the running server: --backup-dir ${read.backupDir}`)
  return read.backupDir === null ? config : read
}

/**
 * Makes the backup in FILE if given, else in the folder that the settings name, else in the current folder.
 */
async function make(given: Backup, asked: Seal | null) {
  const { config, raw, entries, shell } = given
  const [operand] = given.operands
  const { now, os, readFile } = shell
  const { backupDir: _, ...rest } = config
  const own = await readFolder(given)
  const { backupDir: folder, backupKeep: keep } = own
  const recipients = own.backupRecipients
  // Store all settings of the server in the backup. If one of them is invalid, store only those that a backup
  // needs.
  const all = readSettings(settings, { flags: raw, os, readFile }).entries ?? entries
  const wish = {
    ...rest,
    settings: all.map(({ setting: { flag }, text, from }) => ({ flag, value: text, from })),
  }
  const progress = shell.startProgress('Backup', () => 'cancelled; no backup was made')
  const ports = {
    ...{ now, writeOutput: shell.writeBytes, onProgress: progress.update },
    onCopying: (bytes: number) => {
      if (bytes > LARGE_BYTES) shell.say(`Copying the database (${formatSize(bytes)}) …`)
    },
  }
  using closing = new DisposableStack()
  closing.defer(progress.stop)
  shell.giveWay()
  if (operand === undefined && folder !== null) {
    const { backUpInFolder } = await import('../../backup/own-backup.ts')
    const seal = asked ?? (recipients.length === 0 ? null : { recipients })
    return await backUpInFolder({ ...wish, seal, folder, keep }, ports)
  }
  const { backUp } = await import('../../backup/backup.ts')
  const name = operand ?? backupName({ at: now(), isSealed: asked !== null })
  const file = operand === STANDARD ? null : resolve(os.cwd, name)
  return await backUp({ ...wish, seal: asked, file }, ports)
}

/** A larger copy takes about a second, for which it shows no progress. */
const LARGE_BYTES = 128 * 1024 * 1024

const SETTINGS: Record<BackupReport['settingsFrom'], string> = {
  server: 'the settings of the running server',
  'last server': 'the settings of the server that ran last',
  'command line': 'the settings of this command line (no server has run here)',
}

function presentBackup({ file, bytes, isSealed, accounts, pushes, ...report }: BackupReport): string[] {
  const held = [
    formatCount(accounts, 'account'),
    `${formatCount(pushes, 'push', 'pushes')} as lists with names, notes and logs`,
    SETTINGS[report.settingsFrom],
    ...(report.key === 'included' ? ['the instance key'] : []),
    ...(report.tlsAuthority === 'included' ? ['the TLS authority with its key'] : []),
  ]
  return [
    `${file ?? 'Standard output'}: a backup of ${formatSize(bytes)}, ${isSealed ? 'encrypted' : 'not encrypted'}.`,
    `In it: ${held.join(', ')}.`,
    'Not in it: the keys of pushes and files, sessions, one-time links. After a restore, live pushes are expired.',
    file === null
      ? 'Check it where it arrived: oncebox backup verify FILE'
      : `Check it: oncebox backup verify ${shellWord(file)}`,
  ]
}

function warningsOf({ isSealed, key, tlsAuthority, leftOut }: BackupReport): string[] {
  return [
    key === 'included' && !isSealed ? OPEN_KEY : KEYS[key],
    AUTHORITIES[tlsAuthority],
    // A server that makes a backup logs the same line.
    leftOut > 0 &&
      `the database is damaged: ${formatCount(leftOut, 'row')} could not be copied; keep the earlier backups`,
  ].filter((line) => typeof line === 'string')
}

const OPEN_KEY =
  'the instance key is in this backup, and the backup is not encrypted: anyone with it can read the names and notes that ' +
  'accounts keep, and their second factors. Keep it to yourself, or encrypt it (--recipient, --passphrase).'

const LOST_KEY = 'so it is not in this backup. Without it, this backup cannot be restored.'

const KEYS: Partial<Record<BackupReport['key'], string>> = {
  elsewhere: `the instance key is kept outside the data folder: keep a copy of it yourself, ${LOST_KEY}`,
  missing: `there is no instance key in the data folder, ${LOST_KEY}`,
  unreadable: `the key file cannot be read, ${LOST_KEY}`,
  foreign: `the key file belongs to another database (name the right one with --key-file), ${LOST_KEY}`,
}

const AUTHORITIES: Partial<Record<BackupReport['tlsAuthority'], string>> = {
  unsealed:
    'the TLS authority is left out, because anyone with its key can pose as this server, and this backup is not encrypted ' +
    '(--recipient, --passphrase). Without it, every device has to trust a new one after a restore.',
  elsewhere:
    'the TLS authority is kept outside the data folder, so it is not in this backup: keep a copy of it yourself.',
  unreadable: 'the file of the TLS authority cannot be read, so it is not in this backup.',
}
