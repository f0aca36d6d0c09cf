// The parts of the app that commands use. Tests pass in a substitute.

import type { openAccounts } from '../app/account-commands.ts'
import type { examine } from '../app/doctor/doctor.ts'
import type { openToExpire } from '../app/expire-all.ts'
import type { importCommand } from '../app/import-command.ts'
import type { makeNewKey } from '../app/new-key.ts'
import type { namesOfAuthority, readOwnAuthority } from '../app/own-authority.ts'
import type { findServerOn, findServing } from '../app/serving.ts'
import type { fetchAuthority, openClient, startServer, version } from '../app.ts'
import type { backUp } from '../backup/backup.ts'
import type { backUpInFolder } from '../backup/own-backup.ts'
import type { openBackupFile, streamPieces } from '../backup/restoring/opening.ts'
import type { restoreBackup } from '../backup/restoring/restore.ts'
import type { verifyBackup } from '../backup/restoring/verify-backup.ts'
import type { describeProgram, goBack, schemaForUpgrade, upgradeProgram } from '../install/upgrade.ts'

export type App = {
  version: typeof version
  startServer: typeof startServer
  openAccounts: typeof openAccounts
  examine: typeof examine
  makeNewKey: typeof makeNewKey
  backUp: typeof backUp
  backUpInFolder: typeof backUpInFolder
  openToExpire: typeof openToExpire
  openClient: typeof openClient
  fetchAuthority: typeof fetchAuthority
  readOwnAuthority: typeof readOwnAuthority
  namesOfAuthority: typeof namesOfAuthority
  importCommand: typeof importCommand
  findServing: typeof findServing
  findServerOn: typeof findServerOn
  describeProgram: typeof describeProgram
  upgradeProgram: typeof upgradeProgram
  goBack: typeof goBack
  schemaForUpgrade: typeof schemaForUpgrade
  openBackupFile: typeof openBackupFile
  streamPieces: typeof streamPieces
  restoreBackup: typeof restoreBackup
  verifyBackup: typeof verifyBackup
}
