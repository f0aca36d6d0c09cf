// Connects the command line to the app and the process.

import { openAccounts } from '../app/account-commands.ts'
import { backUp } from '../app/backup.ts'
import { runBackupTask, TASK_COMMAND } from '../app/backup-task.ts'
import { examine } from '../app/doctor/doctor.ts'
import { importCommand } from '../app/import-command.ts'
import { namesOfAuthority, readOwnAuthority } from '../app/own-authority.ts'
import { openBackupFile, streamPieces } from '../app/restoring/opening.ts'
import { restoreBackup } from '../app/restoring/restore.ts'
import { verifyBackup } from '../app/restoring/verify-backup.ts'
import { findServerOn, findServing } from '../app/serving.ts'
import { describeProgram, goBack, schemaForUpgrade, tryUpgrade, upgradeProgram } from '../app/upgrade.ts'
import { fetchAuthority, openClient, startServer, version } from '../app.ts'
import type { Environment } from '../settings/parsers.ts'
import { runProgram } from './program.ts'
import { createShell } from './shell.ts'

/** Resolves to the exit code. */
export function runCommandLine(
  argv: readonly string[],
  outside: { env: Environment; now: () => number; uptime: () => number },
): Promise<number> {
  return runProgram(argv, {
    shell: createShell(outside),
    app: {
      version,
      startServer,
      openAccounts,
      examine,
      backUp,
      openClient,
      fetchAuthority,
      readOwnAuthority,
      namesOfAuthority,
      importCommand,
      findServing,
      findServerOn,
      describeProgram,
      upgradeProgram,
      goBack,
      tryUpgrade,
      schemaForUpgrade,
      openBackupFile,
      streamPieces,
      restoreBackup,
      verifyBackup,
      backupTaskCommand: TASK_COMMAND,
      runBackupTask,
    },
  })
}
