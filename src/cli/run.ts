// Connects the command line to the app and the process.

import { openAccounts } from '../app/account-commands.ts'
import { makeNewKey } from '../app/new-key.ts'
import { namesOfAuthority, readOwnAuthority } from '../app/own-authority.ts'
import { findServerOn, findServing } from '../app/serving.ts'
import { fetchAuthority, openClient, startServer, version } from '../app.ts'
import { openBackupFile, streamPieces } from '../backup/restoring/opening.ts'
import { createUptime } from '../domain/uptime.ts'
import { describeProgram, goBack, schemaForUpgrade, upgradeProgram } from '../install/upgrade.ts'
import type { Environment } from '../settings/parsers.ts'
import type { App } from './app.ts'
import { runProgram } from './program.ts'
import { createShell, type Shell } from './shell.ts'

/** What a server never needs is loaded when its command is run. */
const RARE: Pick<
  App,
  | 'examine'
  | 'backUp'
  | 'backUpInFolder'
  | 'importCommand'
  | 'restoreBackup'
  | 'verifyBackup'
  | 'openToExpire'
> = {
  openToExpire: async (...given) => (await import('../app/expire-all.ts')).openToExpire(...given),
  examine: async (...given) => (await import('../app/doctor/doctor.ts')).examine(...given),
  backUp: async (...given) => (await import('../backup/backup.ts')).backUp(...given),
  backUpInFolder: async (...given) => (await import('../backup/own-backup.ts')).backUpInFolder(...given),
  importCommand: async (...given) => (await import('../app/import-command.ts')).importCommand(...given),
  restoreBackup: async (...given) => (await import('../backup/restoring/restore.ts')).restoreBackup(...given),
  verifyBackup: async (...given) =>
    (await import('../backup/restoring/verify-backup.ts')).verifyBackup(...given),
}

/** `uptime`: seconds since the machine was started. */
export type Outside = { env: Environment; now: () => number; uptime: () => number }

/** Resolves to the exit code. */
export function runCommandLine(argv: readonly string[], outside: Outside): Promise<number> {
  return runProgram(argv, createParts(outside))
}

/** What the commands are made of. */
export function createParts(outside: Outside): { shell: Shell; app: App } {
  const uptime = createUptime({ seconds: outside.uptime, elapsed: () => performance.now() })
  return {
    shell: createShell({ ...outside, uptime }),
    app: {
      ...RARE,
      version,
      startServer,
      openAccounts,
      openClient,
      makeNewKey,
      fetchAuthority,
      readOwnAuthority,
      namesOfAuthority,
      findServing,
      findServerOn,
      describeProgram,
      upgradeProgram,
      goBack,
      schemaForUpgrade,
      openBackupFile,
      streamPieces,
    },
  }
}
