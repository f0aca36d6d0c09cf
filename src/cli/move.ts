// `oncebox move`: brings everything from a data folder to PostgreSQL and a bucket, back, or the files alone.

import type { Command } from 'commander'
import type { MoveReport, MoveWish } from '../app/moving/wish.ts'
import type { App } from './app.ts'
import { agrees } from './ask.ts'
import { addSettingFlags, addTextFlag, isGiven } from './flags.ts'
import { createMoveProgress } from './move-progress.ts'
import { presentCopy, presentMove } from './move-report.ts'
import { MOVE_SECRETS, readMoveWish } from './move-wish.ts'
import type { Shell } from './shell.ts'

const HELP =
  'Copies everything of a stopped Oncebox to an empty place: accounts, passwords, sessions and tokens go on working, and so do ' +
  'all links. Then it reads both sides again, compares them row by row and file by file, and asks. Only when that is confirmed ' +
  'the source is left: no server starts on it any more, and the target can be served. Until then the source is as it was, and ' +
  'the target refuses to be served, so that no secret is given twice. A move that was broken off, even by a power cut, goes on ' +
  'where it stopped when the same command runs again. What is sealed stays sealed: nothing is opened.'

const EXAMPLES = `
Examples:
  oncebox move --from /srv/oncebox --to postgres://oncebox@db.example/oncebox --files-url 's3://files?endpoint=https://s3.example' \\
      --key-file /etc/oncebox/instance.key --dry-run
  oncebox move --from /srv/oncebox --to postgres://oncebox@db.example/oncebox --files-url 's3://files?endpoint=https://s3.example' \\
      --key-file /etc/oncebox/instance.key
  oncebox move --from postgres://oncebox@db.example/oncebox --from-files-url 's3://files?endpoint=https://s3.example' \\
      --from-key-file /etc/oncebox/instance.key --to /srv/oncebox-again
  oncebox move --from /srv/oncebox --to /srv/oncebox --files-url 's3://files?endpoint=https://s3.example' --key-file /etc/oncebox/instance.key

The last one moves the files alone, from the folder into the bucket; its database stays where it is.`

export function addMoveCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program.command('move').usage('--from PLACE --to PLACE [flags]')
  command.summary('move everything to PostgreSQL and a bucket, or back')
  command.description(HELP).addHelpText('after', EXAMPLES)
  addPlaces(command)
  addModes(command)
  addSettingFlags(command, MOVE_SECRETS)
  command.action(() => runMove(command, { shell, app }))
}

function addPlaces(command: Command): void {
  addTextFlag(
    command,
    '--from <place>',
    'Where everything is: a data folder, or the address of PostgreSQL (postgres://…)',
  )
  addTextFlag(
    command,
    '--to <place>',
    'Where it goes: a new or empty folder, or the address of an empty database',
  )
  addTextFlag(command, '--files-url <url>', 'Bucket where the files go (s3://…); without it, the data folder')
  addTextFlag(command, '--from-files-url <url>', 'Bucket where the files are, when they are in one')
  addTextFlag(
    command,
    '--key-file <file>',
    'Where the instance key lies after the move; written there if it is missing. Needed for PostgreSQL and for a bucket',
  )
  addTextFlag(
    command,
    '--from-key-file <file>',
    'Where the instance key lies now. Default: instance.key in the folder, else the file of --key-file',
  )
  addTextFlag(
    command,
    '--data-dir <folder>',
    'Data folder of the node whose disk gets the files, when --to is PostgreSQL without a bucket',
  )
  addTextFlag(
    command,
    '--from-data-dir <folder>',
    'Data folder of the node whose disk has the files, when --from is PostgreSQL without a bucket',
  )
}

function addModes(command: Command): void {
  command.option('--dry-run', 'only tell what would be moved, what is damaged, and what is still needed')
  command.option(
    '--confirm',
    'confirm a finished copy: leave the source for good. Compares everything once more',
  )
  command.option('--yes', 'confirm without asking as soon as everything was copied and compared')
  command.option('--skip-damaged', 'leave out pushes and other rows that are damaged, in place of stopping')
  command.option(
    '--destroy-source',
    'destroy what the source holds, once the move is confirmed. Asks; without a terminal it needs --yes',
  )
  command.option('--json', 'print what was moved as JSON')
}

async function runMove(command: Command, { shell, app }: { shell: Shell; app: App }): Promise<void> {
  const wish = readMoveWish(command, shell)
  const progress = createMoveProgress(shell)
  const report = await app
    .moveStore(wish, {
      now: shell.now,
      say: (warning) => shell.say(`oncebox: warning: ${warning}`),
      onProgress: progress.update,
      confirm: async (copied) => {
        progress.clear()
        return confirmMove(copied, wish, { command, shell })
      },
      confirmDestruction: (moved) => confirmDestruction(moved, { command, shell }),
    })
    .finally(progress.stop)
  if (isGiven(command, 'json')) shell.print(JSON.stringify(report))
  else for (const line of presentMove(report, wish)) shell.print(line)
}

type Asking = { command: Command; shell: Shell }

/** Without a terminal and a flag nothing is confirmed: the copy waits. */
async function confirmMove(copied: MoveReport, wish: MoveWish, { command, shell }: Asking): Promise<boolean> {
  if (wish.mode === 'confirm' || isGiven(command, 'yes')) return true
  if (!shell.isTerminal) return false
  for (const line of presentCopy(copied)) shell.say(line)
  return agrees(shell, `Leave ${copied.from} for good?`)
}

/** Without a terminal the command line was refused unless it has --yes. */
async function confirmDestruction({ from, to }: MoveReport, { command, shell }: Asking): Promise<boolean> {
  if (isGiven(command, 'yes')) return true
  shell.say(`Everything in ${from} was moved to ${to}. What ${from} still holds can be destroyed, for ever.`)
  return agrees(shell, `Destroy what ${from} holds?`)
}
