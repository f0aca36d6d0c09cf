// Backups that the server makes by itself.

import { ageRecipient } from '../age-recipient.ts'
import { duration, path, wholeNumber } from '../parsers.ts'
import { off, type Table } from '../setting.ts'

const group = 'Backups'

export const backupsSettings = {
  backupDir: {
    flag: 'backup-dir',
    group,
    placeholder: 'folder',
    parse: path,
    default: null,
    defaultWords: 'no backups',
    help: 'Folder for backups that the server makes by itself, on another disk than the data; may be shared with other servers',
  },
  backupEvery: {
    flag: 'backup-every',
    group,
    placeholder: 'duration',
    parse: duration('1s', '365d'),
    default: '24h',
    help: 'How often to make a backup in --backup-dir; one that was missed is made soon after the next start',
  },
  backupKeep: {
    flag: 'backup-keep',
    group,
    placeholder: 'number',
    parse: wholeNumber('1', '1000'),
    default: '7',
    help: 'How many of its backups the server keeps; it removes older ones once a new one is complete',
  },
  backupAcceptFolder: {
    flag: 'backup-accept-folder',
    group,
    ...off,
    help: 'Use --backup-dir even if it is not the folder or disk that backups went to before, and make one soon; for one start',
  },
  backupRecipients: {
    flag: 'backup-recipient',
    group,
    placeholder: 'age-key',
    parse: ageRecipient,
    default: null,
    defaultWords: 'not encrypted',
    list: true,
    help: 'Public key of age (age1…) to encrypt the backups for; may be repeated, and any one secret key then opens them',
  },
} satisfies Table
