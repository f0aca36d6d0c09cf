// The import from another server.

import { parseDatabaseAddress } from '../../domain/database-address.ts'
import { bucketProblemsIn } from '../../settings/bucket.ts'
import { databaseProblemsIn } from '../../settings/database.ts'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { anyPath } from '../paths.ts'

const IMPORT = 'oncebox import password-pusher'
const FROM = `${IMPORT} --database storage/db/production.sqlite3 --storage storage --master-key-file master.key`
const IMPORT_EXAMPLES = `  ${FROM} --dry-run
  ${FROM}
  ${FROM} --verify
  ${IMPORT} --database postgres://pwpush@db/pwpush --database-password-file password --storage storage --master-key-file master.key`

export const IMPORTS = [
  command({
    name: 'import',
    summary: 'bring everything of a Password Pusher here',
    help: 'Brings everything of another server into a new or stopped data folder, or into PostgreSQL.',
    examples: IMPORT_EXAMPLES,
  }),
  command({
    name: 'import password-pusher',
    usage: '--database FILE|ADDRESS [flags]',
    summary: 'bring pushes, accounts and tokens of a Password Pusher 2.x',
    help:
      'Brings pushes with their links, files and logs, accounts with their passwords and second factors, and API tokens from ' +
      'a Password Pusher 2.x into a new or stopped data folder, or into PostgreSQL (--database-url) while no node serves it. Stop ' +
      'the old server first. Its data is only read. Either everything comes that can, or nothing; what cannot come is listed, with ' +
      'the reason. A repeated import adds nothing twice, and brings nothing back that was opened, has expired or was removed here.',
    examples: IMPORT_EXAMPLES,
    flags: {
      database: valued(
        'database <file|address>',
        "the old server's SQLite file, or its DATABASE_URL: postgres://… or mysql://…",
        (text) => {
          const address = parseDatabaseAddress(text)
          if (address !== null && 'problem' in address) return { problem: address.problem, isSecret: true }
          return text === '' ? { problem: 'must be a path or an address' } : { value: { text, address } }
        },
      ),
      databasePasswordFile: valued(
        'database-password-file <file>',
        'file with the password for that address, so that it need not stand on the command line. ' +
          'Environment: PGPASSWORD, MYSQL_PWD',
        anyPath,
      ),
      storage: valued('storage <folder>', "the old server's folder of files", anyPath),
      masterKeyFile: valued(
        'master-key-file <file>',
        'file with its PWPUSH_MASTER_KEY, 64 hex digits; without it the key that Password Pusher publishes',
        anyPath,
      ),
      previousMasterKeysFile: valued(
        'previous-master-keys-file <file>',
        'file with its PWPUSH_MASTER_KEY_PREVIOUS',
        anyPath,
      ),
      dryRun: toggle('dry-run', 'only tell what would come, and what would not and why'),
      verify: toggle('verify', 'import nothing, but compare what is here with the source; opens no view'),
    },
    oneOf: [['dryRun', 'verify']],
    settings: {
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
    },
    isOnData: true,
    problems: ({ flags: { database, databasePasswordFile }, config }) => [
      ...(database === null ? ['--database is missing'] : []),
      ...(database?.address === null && databasePasswordFile !== null
        ? ['--database-password-file: only with the address of a server']
        : []),
      ...bucketProblemsIn(config),
      ...databaseProblemsIn(config),
    ],
    act: async (given) => (await import('../import.ts')).importFrom(given),
  }),
]
