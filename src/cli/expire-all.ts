// `oncebox expire-all`: lets nodes serve a PostgreSQL database again that was set back to an earlier state.

import type { Command } from 'commander'
import type { DatabaseToExpire } from '../app/expire-all.ts'
import { databaseAddressOf, databaseWarnings } from '../settings/database.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { confirm } from './ask.ts'
import { UsageError } from './failures.ts'
import { addSettingFlags, givenFlags, isGiven, readOperands } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const TABLE = { databaseUrl: settings.databaseUrl, databasePassword: settings.databasePassword }
const NAME = 'oncebox expire-all'
const PROGRESS_MS = 2_000

const HELP =
  'Makes a PostgreSQL database safe to serve that was set back to an earlier state, such as by pg_restore, and each restored copy. ' +
  'There, what was read, expired or deleted since could be opened again. Stop all nodes of the database first, and start them ' +
  'afterwards. This expires every push, and ends all sessions and all links of accounts; accounts, lists and logs stay. A run that was broken off is continued by the next one. Files in ' +
  'a bucket stay where they are, and new ones go to a new prefix there, so that a copy never removes files of its original.'

const EXAMPLES = `
Examples:
  oncebox expire-all --database-url postgres://oncebox@db.example/oncebox
  sudo oncebox expire-all --yes                   the database of the installed service`

export function addExpireAllCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('expire-all')
    .usage('[flags]')
    .summary('let a restored PostgreSQL database be served again')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  command.option('--yes', 'Expire every push without asking. Needed without a terminal')
  addSettingFlags(command, TABLE)
  command.action(() => runExpireAll(command, { shell, app }))
}

async function runExpireAll(command: Command, { shell, app }: { shell: Shell; app: App }): Promise<void> {
  const address = readCommandLine(command, shell)
  const opened = await app.openToExpire(address, (warning) => shell.say(`oncebox: warning: ${warning}`))
  try {
    for (const line of present(opened)) shell.say(line)
    if (!isGiven(command, 'yes')) await confirm(shell, 'Expire every push now?')
    const { lost, leftPrefix } = await opened.expireAll(tellProgress(shell))
    shell.print(lost === 1 ? '1 push is expired.' : `${lost} pushes are expired.`)
    if (leftPrefix !== null)
      shell.say(
        `Files under ${leftPrefix}/ in the bucket (behind the prefix of --files-url) are not removed: the original of a copy needs ` +
          'them. If there is none, remove them with a tool for the bucket.',
      )
    for (const line of NEXT) shell.say(line)
  } finally {
    await opened.close()
  }
}

function readCommandLine(command: Command, shell: Shell) {
  const { problems } = readOperands(command, { names: [] })
  const flags = givenFlags(command, TABLE)
  const place = placeWithService(shell, flags)
  const reading = readSettings(TABLE, { flags, place, readFile: shell.readFile })
  const address = reading.config === undefined ? null : databaseAddressOf(reading.config)
  const all = [
    ...problems,
    ...(reading.problems ?? []),
    ...(reading.config !== undefined && address === null ? [NO_DATABASE] : []),
    ...(shell.isTerminal || isGiven(command, 'yes') ? [] : [NOBODY_TO_ASK]),
  ]
  if (all.length > 0 || address === null) throw new UsageError(all, NAME)
  for (const warning of databaseWarnings(flags)) shell.say(`oncebox: warning: ${warning}`)
  return address
}

const NOBODY_TO_ASK = 'without a terminal to ask, --yes is needed: every push expires for ever'
const NO_DATABASE =
  '--database-url is missing: this is for PostgreSQL. In a data folder that "oncebox restore" made, everything has expired already'

function present({ where, livePushes }: DatabaseToExpire): string[] {
  return [
    `Database: ${where}`,
    livePushes === 1
      ? '1 push can be opened by its link there. It will be expired, for ever.'
      : `${livePushes} pushes can be opened by their links there. All of them will be expired, for ever.`,
    'Everybody has to sign in again, and invitations and password links stop working.',
  ]
}

/** A line every two seconds. */
function tellProgress({ say }: Shell): (done: number) => void {
  let last = performance.now()
  return (done) => {
    if (performance.now() - last < PROGRESS_MS) return
    last = performance.now()
    say(`… ${done} pushes`)
  }
}

const NEXT = [
  'Start the nodes now.',
  'API tokens and accounts are as they were when the copy was made: see "oncebox user list" and "oncebox token list EMAIL", and ' +
    'revoke or disable again what was revoked or disabled since.',
]
