// `oncebox restore FILE`: makes a new data folder of a backup, after it has told what that means.

import type { Command } from 'commander'
import type { Decision, RestorePlan } from '../backup/restoring/restore.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { confirm } from './ask.ts'
import { addOpeningFlags, openingProblems, readOpening } from './backup-opening.ts'
import { createBackupProgress } from './backup-progress.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addSettingFlags, givenFlags, isGiven, readOperands } from './flags.ts'
import { addFolderOnlyFlags, requireFolderDatabase } from './folder-only.ts'
import { presentPlan, presentRestored, presentTokens } from './restore-report.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const TABLE = { dataDir: settings.dataDir, keyFile: settings.keyFile }
const NAME = 'restore'

const HELP =
  'Makes a new data folder of a backup, complete or not at all, and never over anything that exists. FILE may be "-" for ' +
  'standard input. Checks the backup as "oncebox backup verify" does and tells what will come back before it begins: ' +
  'accounts, names, notes and logs do; every push that could be opened comes back as expired, since what opens a push is in ' +
  'no backup. API tokens that were revoked since would work again: keep them all or revoke them all.'

const EXAMPLES = `
Examples:
  oncebox restore /backups/oncebox.tar --data-dir /srv/oncebox
  oncebox restore oncebox.tar.age --identity key.txt --data-dir /srv/oncebox --key-file /etc/oncebox/key
  ssh nas cat oncebox.tar | oncebox restore - --data-dir /srv/oncebox --revoke-tokens --yes`

const OF_POSTGRES = {
  does: '"oncebox restore" makes a data folder of a backup',
  instead:
    'Restore PostgreSQL with its own tools (docs/beyond-one-machine.md), and then run "oncebox expire-all". A backup ' +
    'of a data folder can only be restored into a folder.',
}

export function addRestoreCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command(NAME)
    .usage('FILE|- [flags]')
    .summary('make a new data folder of a backup')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
    .option('--keep-tokens', 'Keep all API tokens in the backup, also those that were revoked since')
    .option('--revoke-tokens', 'Revoke all API tokens in the backup')
    .option('--yes', 'Restore without asking')
  addOpeningFlags(command)
  addSettingFlags(command, TABLE)
  addFolderOnlyFlags(command)
  command.action(async () => {
    const { operand, place, tokens } = readCommandLine(command, shell)
    const { opening, ...source } = readOpening(command, operand, { shell, app, name: NAME })
    const wish = { ...source, ...place }
    const progress = createBackupProgress(shell, 'cancelled: nothing was restored')
    const decide = async (plan: RestorePlan) => {
      progress.clear()
      for (const line of presentPlan(plan, wish)) shell.say(line)
      const decision = await chooseTokens(plan, { tokens, shell })
      if (shell.isTerminal && !isGiven(command, 'yes')) await confirm(shell, 'Restore now?')
      return decision
    }
    const restored = await app
      .restoreBackup(wish, { now: shell.now, opening, onProgress: progress.update, decide })
      .finally(progress.stop)
    for (const line of presentRestored(restored, place)) shell.print(line)
  })
}

type Asking = { tokens: Decision['apiTokens'] | null; shell: Shell }

async function chooseTokens({ content }: RestorePlan, { tokens, shell }: Asking): Promise<Decision> {
  if (content.apiTokens.length === 0) return { apiTokens: 'keep' }
  for (const line of presentTokens(content)) shell.say(line)
  if (tokens !== null) {
    shell.say(tokens === 'keep' ? 'They are kept.' : 'They are all revoked.')
    return { apiTokens: tokens }
  }
  const answer = (await shell.ask('Keep them, or revoke them all? [keep/revoke] ')).trim().toLowerCase()
  if (answer === 'keep' || answer === 'revoke') return { apiTokens: answer }
  throw new CommandFailure('Answer "keep" or "revoke". Nothing was restored.')
}

function readCommandLine(command: Command, shell: Shell) {
  const { operands, problems } = readOperands(command, { names: ['FILE'] })
  const flags = givenFlags(command, TABLE)
  const surroundings = placeWithService(shell, flags)
  requireFolderDatabase(command, { ...OF_POSTGRES, place: surroundings, shell })
  const reading = readSettings(TABLE, { flags, place: surroundings, readFile: shell.readFile })
  const [keep, revoke] = [isGiven(command, 'keepTokens'), isGiven(command, 'revokeTokens')]
  const all = [
    ...problems,
    ...(keep && revoke ? ['--keep-tokens and --revoke-tokens: give only one of them'] : []),
    ...(keep || revoke || shell.isTerminal
      ? []
      : [
          'without a terminal, --keep-tokens or --revoke-tokens is needed: tokens that were revoked since would return',
        ]),
    ...openingProblems(command),
    ...(reading.problems ?? []),
  ]
  const [operand] = operands
  if (all.length > 0 || operand === undefined || reading.config === undefined)
    throw new UsageError(all, `oncebox ${NAME}`)
  return {
    operand,
    place: reading.config,
    tokens: keep ? ('keep' as const) : revoke ? ('revoke' as const) : null,
  }
}
