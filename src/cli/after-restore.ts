// `oncebox after-restore`: lets nodes serve a PostgreSQL database again that was set back to an earlier state.

import type { Command } from 'commander'
import type { RestoredDatabase } from '../app/after-restore.ts'
import { nameBucket } from '../domain/bucket-place.ts'
import { type BucketSettings, bucketProblemsIn, bucketSettingsOf } from '../settings/bucket.ts'
import { databaseAddressOf, databaseWarnings } from '../settings/database.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { confirm } from './ask.ts'
import { UsageError } from './failures.ts'
import { addSettingFlags, givenFlags, isGiven, readOperands } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const TABLE = {
  dataDir: settings.dataDir,
  databaseUrl: settings.databaseUrl,
  databasePassword: settings.databasePassword,
  filesUrl: settings.filesUrl,
  s3AccessKeyId: settings.s3AccessKeyId,
  s3SecretAccessKey: settings.s3SecretAccessKey,
  keyFile: settings.keyFile,
}
const NAME = 'oncebox after-restore'
const PROGRESS_MS = 2_000
const WAIT_MS = 5_000

const HELP =
  'Makes a PostgreSQL database safe to serve that was set back to an earlier state: by pg_restore, by point-in-time recovery, or ' +
  'by a failover to a standby that lacked the last changes. There, what was read, expired or deleted since could be opened ' +
  'again, so nodes refuse to serve it. This expires every push, and ends all sessions and all links of accounts. Accounts, ' +
  'lists and logs stay. A run that was broken off is continued by the next one. Nodes may run meanwhile: they serve again soon ' +
  'after it has ended. It is refused while nodes of another database use the same bucket, which takes up to 75 seconds to find out; --key-file ' +
  'tells what nodes have written there.'

const EXAMPLES = `
Examples:
  oncebox after-restore --database-url postgres://oncebox@db.example/oncebox
  sudo oncebox after-restore --yes                   the database of the installed service`

export function addAfterRestoreCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('after-restore')
    .usage('[flags]')
    .summary('let a restored PostgreSQL database be served again')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  command.option('--yes', 'Expire every push without asking. Needed without a terminal')
  addSettingFlags(command, TABLE)
  command.action(() => runAfterRestore(command, { shell, app }))
}

async function runAfterRestore(command: Command, { shell, app }: { shell: Shell; app: App }): Promise<void> {
  const { address, bucket, dataDir } = readCommandLine(command, shell)
  const onWarning = (warning: string) => shell.say(`oncebox: warning: ${warning}`)
  const onWait = createWaiting(shell)
  const restored = await app.openRestored({ address, bucket, dataDir, onWarning, onWait })
  try {
    for (const line of [...presentRestored(restored), ...presentFiles(bucket)]) shell.say(line)
    if (!isGiven(command, 'yes')) await confirm(shell, 'Expire every push now?')
    const expired = await restored.expireEverything(createProgress(shell))
    shell.print(expired === 1 ? '1 push is expired.' : `${expired} pushes are expired.`)
    for (const line of NEXT) shell.say(line)
  } finally {
    await restored.close()
  }
}

function readCommandLine(command: Command, shell: Shell) {
  const { problems } = readOperands(command, { names: [] })
  const flags = givenFlags(command, TABLE)
  const reading = readSettings(TABLE, {
    flags,
    place: placeWithService(shell, flags),
    readFile: shell.readFile,
  })
  const address = reading.config === undefined ? null : databaseAddressOf(reading.config)
  const all = [
    ...problems,
    ...(reading.problems ?? []),
    ...(reading.config !== undefined && address === null ? [NO_DATABASE] : []),
    ...(reading.config === undefined ? [] : bucketProblemsIn(reading.config)),
    ...(shell.isTerminal || isGiven(command, 'yes') ? [] : [NOBODY_TO_ASK]),
  ]
  if (all.length > 0 || address === null || reading.config === undefined) throw new UsageError(all, NAME)
  for (const warning of databaseWarnings(flags)) shell.say(`oncebox: warning: ${warning}`)
  const { dataDir, keyFile } = reading.config
  const bucket = bucketSettingsOf(reading.config)
  return { address, bucket: bucket && keyFile !== null ? { ...bucket, keyFile } : null, dataDir }
}

const NOBODY_TO_ASK = 'without a terminal to ask, --yes is needed: every push expires for ever'
const NO_DATABASE =
  '--database-url is missing: this is for PostgreSQL. In a data folder that "oncebox restore" made, everything has expired already'

function presentRestored({ where, livePushes, halted }: RestoredDatabase): string[] {
  return [
    `Database: ${where}`,
    halted ?? 'No node has noticed that the database was set back. If it was not, answer no.',
    livePushes === 1
      ? '1 push can be opened by its link there. It will be expired, for ever.'
      : `${livePushes} pushes can be opened by their links there. All of them will be expired, for ever.`,
    'Everybody has to sign in again, and invitations and password links stop working.',
  ]
}

function presentFiles(bucket: BucketSettings | null): string[] {
  if (bucket === null) return []
  return [
    `Their files go from the bucket ${nameBucket(bucket.place)}. No node of another database writes there now. If the original of this ` +
      'database is to be served again, answer no, and give this one a bucket or a prefix of its own: its node would remove those files.',
  ]
}

const NEXT = [
  'Nodes that run serve the database within seconds; start the others.',
  'API tokens and accounts are as they were when the copy was made: see "oncebox user list" and "oncebox token list EMAIL", and ' +
    'revoke or disable again what was revoked or disabled since.',
]

function createWaiting({ say }: Shell) {
  const isDue = everySo(WAIT_MS, { first: true })
  return (place: string, seconds: number) => {
    if (isDue()) say(`… looking which nodes use ${place}: ${seconds} s left`)
  }
}

function createProgress({ say }: Shell) {
  const isDue = everySo(PROGRESS_MS, { first: false })
  return (done: number, total: number) => {
    if (isDue()) say(`… ${done} of ${total} pushes`)
  }
}

/** Whether a line is due: one every few milliseconds. `first`: the first time at once. */
function everySo(milliseconds: number, { first }: { first: boolean }): () => boolean {
  let last = first ? Number.NEGATIVE_INFINITY : performance.now()
  return () => {
    const now = performance.now()
    if (now - last < milliseconds) return false
    last = now
    return true
  }
}
