// Commands on the data as a whole: saving it, bringing it back, making it safe to serve, and copying it to another engine.

import { ageRecipient } from '../../settings/age-recipient.ts'
import { credentialProblemsIn } from '../../settings/bucket.ts'
import { databaseUrl } from '../../settings/database-parsers.ts'
import { settings } from '../../settings/table.ts'
import { command, repeated, toggle, valued } from '../command.ts'
import { anyPath, readableFile } from '../paths.ts'

const identity = repeated(
  'identity <file>',
  'File with the secret key of age that opens the backup; may be repeated',
  anyPath,
)
const openingPassphrase = valued(
  'passphrase-file <file>',
  'File with the passphrase of the backup; without it the passphrase is asked',
  readableFile,
)

export const BACKUPS = [
  command({
    name: 'backup',
    operands: '[FILE|-]',
    summary: 'make a backup that opens no push',
    help:
      'Makes a backup, while a server runs or without one: accounts, API tokens, lists with names and notes, audit logs, the ' +
      'settings in effect, and the instance key if it lies in the data folder. Nothing in it opens a push, now or after a ' +
      'restore: what opens pushes and their files is left out. FILE must be new; without it, the backup is ' +
      'one of those in --backup-dir, or else has a dated name in the current folder. "-" writes to standard output. Encrypted backups are age files, which the program age opens too.',
    examples: `  oncebox backup                                  a dated file in the current folder, or in --backup-dir
  oncebox backup /mnt/disk/monday.tar.age --recipient age1…
  oncebox backup - --recipient age1… | ssh backup@nas 'cat > oncebox.tar.age'
  oncebox backup verify /mnt/disk/monday.tar.age`,
    flags: {
      recipient: {
        ...repeated(
          'recipient <age-key>',
          'Encrypt for this public key of age (age1…); may be repeated',
          (text) => ageRecipient(text.trim()),
        ),
      },
      passphrase: toggle('passphrase', 'Encrypt with a passphrase, which is asked for twice'),
      passphraseFile: valued('passphrase-file <path>', 'Encrypt with the passphrase in a file', readableFile),
      json: toggle('json', 'Print what was made as JSON'),
    },
    oneOf: [['recipient', 'passphrase', 'passphraseFile']],
    settings: {
      dataDir: settings.dataDir,
      keyFile: settings.keyFile,
      tlsAuthorityKey: settings.tlsAuthorityKey,
      minFreeSpace: settings.minFreeSpace,
      backupDir: settings.backupDir,
      backupKeep: settings.backupKeep,
      backupRecipients: settings.backupRecipients,
      backupAcceptFolder: settings.backupAcceptFolder,
    },
    isOnData: true,
    onlyFolder: {
      does: '"oncebox backup" copies a database in a data folder',
      instead: 'Back it up with pg_dump or point-in-time recovery: see docs/beyond-one-machine.md.',
    },
    problems: ({ operands: [file], raw, config }) => {
      const own = ['backup-dir', 'backup-keep', 'backup-recipient', 'backup-accept-folder']
      const isAsked = own.some((flag) => raw[flag] !== undefined)
      if (file === undefined)
        return isAsked && config.backupDir === null
          ? ['--backup-keep, --backup-recipient and --backup-accept-folder need --backup-dir']
          : []
      return [
        ...(/[/\\]$/.test(file) ? [`FILE ${JSON.stringify(file)}: must name a file, not a folder`] : []),
        ...(isAsked ? ['FILE and --backup-dir: give only one of them'] : []),
      ]
    },
    act: async (given) => (await import('../backup.ts')).backup(given),
  }),
  command({
    name: 'backup verify',
    operands: 'FILE|-',
    summary: 'prove that a backup can be restored, without restoring it',
    help:
      'Proves that a backup can be restored, without restoring it: opens it, checks every checksum in it, puts its rows into ' +
      'a new database as a restore does, and checks its key. FILE may be "-" for standard input. Two copies of the database ' +
      'lie in --temp-dir meanwhile, where nobody else can read them. The exit code is 1 when the backup cannot be restored as it was.',
    examples: `  oncebox backup verify /backups/oncebox.tar
  oncebox backup verify /backups/oncebox.tar.age --identity key.txt
  ssh nas cat oncebox.tar | oncebox backup verify - --key-file /etc/oncebox/key`,
    flags: {
      identity,
      passphraseFile: openingPassphrase,
      tempDir: valued(
        'temp-dir <folder>',
        'Folder for a copy of the database meanwhile (default: TMPDIR)',
        anyPath,
      ),
    },
    settings: { keyFile: settings.keyFile },
    act: async (given) => (await import('../restore.ts')).verifyBackup(given),
  }),
  command({
    name: 'restore',
    operands: 'FILE|-',
    summary: 'make a new data folder of a backup',
    help:
      'Makes a new data folder of a backup, complete or not at all, and never over anything that exists. FILE may be "-" for ' +
      'standard input. Checks the backup as "oncebox backup verify" does and tells what will come back before it begins: ' +
      'accounts, names, notes and logs do; every push that could be opened comes back as expired, since what opens a push is in ' +
      'no backup. API tokens that were revoked since would work again: keep them all or revoke them all.',
    examples: `  oncebox restore /backups/oncebox.tar --data-dir /srv/oncebox
  oncebox restore oncebox.tar.age --identity key.txt --data-dir /srv/oncebox --key-file /etc/oncebox/key
  ssh nas cat oncebox.tar | oncebox restore - --data-dir /srv/oncebox --revoke-tokens --yes`,
    flags: {
      keepTokens: toggle(
        'keep-tokens',
        'Keep all API tokens in the backup, also those that were revoked since',
      ),
      revokeTokens: toggle('revoke-tokens', 'Revoke all API tokens in the backup'),
      yes: toggle('yes', 'Restore without asking'),
      identity,
      passphraseFile: openingPassphrase,
    },
    oneOf: [['keepTokens', 'revokeTokens']],
    settings: { dataDir: settings.dataDir, keyFile: settings.keyFile },
    isOnData: true,
    onlyFolder: {
      does: '"oncebox restore" makes a data folder of a backup',
      instead:
        'Restore PostgreSQL with its own tools (docs/beyond-one-machine.md), and then run "oncebox expire-all". A backup ' +
        'of a data folder can only be restored into a folder.',
    },
    problems: ({ flags, shell }) =>
      flags.keepTokens || flags.revokeTokens || shell.isTerminal
        ? []
        : [
            'without a terminal, --keep-tokens or --revoke-tokens is needed: tokens that were revoked since would return',
          ],
    act: async (given) => (await import('../restore.ts')).restore(given),
  }),
  command({
    name: 'expire-all',
    summary: 'let a restored PostgreSQL database be served again',
    help:
      'Makes a PostgreSQL database safe to serve that was set back to an earlier state, such as by pg_restore, and each restored copy. ' +
      'There, what was read, expired or deleted since could be opened again. Stop all nodes of the database first, and start them ' +
      'afterwards. This expires every push, and ends all sessions and all links of accounts; accounts, lists and logs stay. A run that was broken off is continued by the next one. Files in ' +
      'a bucket stay where they are, and new ones go to a new prefix there, so that a copy never removes files of its original.',
    examples: `  oncebox expire-all --database-url postgres://oncebox@db.example/oncebox
  sudo oncebox expire-all --yes                   the database of the installed service`,
    flags: { yes: toggle('yes', 'Expire every push without asking. Needed without a terminal') },
    settings: { databaseUrl: settings.databaseUrl, databasePassword: settings.databasePassword },
    isOnData: true,
    problems: ({ flags, config, shell }) => [
      ...(config.databaseUrl === null
        ? [
            '--database-url is missing: this is for PostgreSQL. In a data folder that "oncebox restore" made, everything has expired already',
          ]
        : []),
      ...(shell.isTerminal || flags.yes
        ? []
        : ['without a terminal to ask, --yes is needed: every push expires for ever']),
    ],
    act: async (given) => (await import('../expire-all.ts')).expireAll(given),
  }),
  command({
    name: 'copy',
    usage: '--to|--from ADDRESS [flags]',
    summary: 'bring everything to PostgreSQL, or back into a folder',
    help:
      'Copies everything of a stopped server to an empty place: from a data folder to PostgreSQL, or from PostgreSQL into a new data ' +
      'folder. Links, accounts, tokens and logs stay the same, and so does the instance key, which --key-file names. Once the copy is ' +
      'complete and compared, what opens pushes is destroyed at the source, which is never served again. Broken off before that, the ' +
      'source is as it was. Whatever ended it: run it again, and it completes the copy, or says what to do.',
    examples: `  oncebox copy --data-dir /var/lib/oncebox --to postgres://oncebox@db.example/oncebox \\
      --key-file /etc/oncebox/instance.key --files-url 's3://boxes/office?endpoint=https://s3.example'`,
    flags: {
      to: valued(
        'to <address>',
        'The empty PostgreSQL database to which the data folder is copied',
        databaseUrl,
      ),
      from: valued(
        'from <address>',
        'The PostgreSQL database that is copied into a new data folder',
        databaseUrl,
      ),
      yes: toggle('yes', 'Copy, and leave the source, without asking. Needed without a terminal'),
    },
    oneOf: [['to', 'from']],
    settings: {
      dataDir: settings.dataDir,
      keyFile: settings.keyFile,
      filesUrl: settings.filesUrl,
      s3AccessKeyId: settings.s3AccessKeyId,
      s3SecretAccessKey: settings.s3SecretAccessKey,
      databasePassword: settings.databasePassword,
    },
    isOnData: true,
    problems: ({ flags, config, shell }) => [
      ...(flags.to === null && flags.from === null
        ? ['--to or --from is missing: the address of PostgreSQL']
        : []),
      ...(config.keyFile === null
        ? ['--key-file is missing: in a data folder, it is the file instance.key']
        : []),
      ...credentialProblemsIn(config),
      ...(shell.isTerminal || flags.yes
        ? []
        : ['without a terminal to ask, --yes is needed: the source is left']),
    ],
    act: async (given) => (await import('../copy.ts')).copy(given),
  }),
]
