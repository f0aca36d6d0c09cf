// Presents a finished backup: what is in it, what is not, and warnings.

import type { BackupReport } from '../backup/backup.ts'
import { formatCount, formatSize, quote } from './format.ts'

const SETTINGS: Record<BackupReport['settingsFrom'], string> = {
  server: 'the settings of the running server',
  'last server': 'the settings of the server that ran last',
  'command line': 'the settings of this command line (no server has run here)',
}

export function presentBackup({ file, bytes, isSealed, manifest, ...report }: BackupReport): string[] {
  const name = file === null ? 'Standard output' : file
  const { accounts, pushes } = manifest
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

export function backupWarnings({ isSealed, key, tlsAuthority, damage }: BackupReport): string[] {
  return [
    ...(key === 'included' && !isSealed ? [OPEN_KEY] : []),
    ...(KEYS[key] ?? []),
    ...(AUTHORITIES[tlsAuthority] ?? []),
    ...damage.map((found) => `the database is damaged: ${found}`),
    // The log of a server that made it tells this line.
    ...(damage.length > 0
      ? [
          'the database is damaged: what could be read is in this backup; keep the earlier ones, and see docs/damage.md',
        ]
      : []),
  ]
}

const OPEN_KEY =
  'the instance key is in this backup, and the backup is not encrypted: who reads it can read the names, notes and links ' +
  'that accounts keep, and use these links as long as the pushes live. Keep it to yourself, or encrypt it (--recipient, --passphrase).'

const LOST_KEY = 'Without it, the names, notes and links of accounts and their second factors are lost.'

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
