// `oncebox backup verify FILE`: proves that a backup can be restored, without restoring it.

import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { addOpeningFlags, openingProblems, readOpening } from './backup-opening.ts'
import { createBackupProgress } from './backup-progress.ts'
import { ToldFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag } from './flags.ts'
import { presentVerified } from './restore-report.ts'
import type { Shell } from './shell.ts'

const TABLE = { keyFile: settings.keyFile }
const NAME = 'backup verify'
const DAMAGED = 1

const HELP =
  'Proves that a backup can be restored, without restoring it: opens it, checks every checksum in it, its database, its logs ' +
  'and its key, and that nothing in it opens a push. FILE may be "-" for standard input. A copy of the database lies in ' +
  '--temp-dir meanwhile, where nobody else can read it. The exit code is 1 when the backup cannot be restored as it was.'

const EXAMPLES = `
Examples:
  oncebox backup verify /backups/oncebox.tar
  oncebox backup verify /backups/oncebox.tar.age --identity key.txt
  ssh nas cat oncebox.tar | oncebox backup verify - --key-file /etc/oncebox/key`

export function addVerifyCommand(backup: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = backup
    .command('verify')
    .configureHelp({ ...backup.configureHelp(), showGlobalOptions: false })
    .usage('FILE|- [flags]')
    .summary('prove that a backup can be restored, without restoring it')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  addOpeningFlags(command)
  addTextFlag(command, '--temp-dir <folder>', 'Folder for a copy of the database meanwhile (default: TMPDIR)')
  addSettingFlags(command, TABLE)
  command.action(async () => {
    const { operand, keyFile, tempDir } = readCommandLine(command, shell)
    const { opening, ...source } = readOpening(command, operand, { shell, app, name: NAME })
    const progress = createBackupProgress(shell, 'cancelled')
    const verified = await app
      .verifyBackup({ ...source, keyFile, tempDir }, { now: shell.now, opening, onProgress: progress.update })
      .finally(progress.stop)
    for (const line of presentVerified(verified, source.file)) shell.print(line)
    if (verified.content.damaged > 0) throw new ToldFailure(DAMAGED)
  })
}

function readCommandLine(command: Command, shell: Shell) {
  const { place, readFile } = shell
  const { operands, problems } = readOperands(command, { names: ['FILE'] })
  const reading = readSettings(TABLE, { flags: givenFlags(command, TABLE), place, readFile })
  const given = textFlag(command, 'temp-dir')
  const all = [
    ...problems,
    ...openingProblems(command),
    ...(given === '' ? ['--temp-dir: a value is missing, it must be a path'] : []),
    ...(reading.problems ?? []),
  ]
  const [operand] = operands
  if (all.length > 0 || operand === undefined || reading.config === undefined)
    throw new UsageError(all, `oncebox ${NAME}`)
  return {
    operand,
    keyFile: reading.config.keyFile,
    tempDir: given === undefined ? tmpdir() : resolve(place.cwd, given),
  }
}
