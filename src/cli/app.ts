// What commands ask of the app where tests put something else in its place. Loaded when a command needs it.

import type { openAccounts } from '../app/account-commands.ts'
import type { openClient } from '../app/clients.ts'
import type { examine } from '../app/doctor/doctor.ts'
import type { importCommand } from '../app/import-command.ts'
import type { findServerOn, findServing } from '../app/serving.ts'
import type { startServer } from '../app.ts'

type Later<F extends (...given: never) => unknown> = (
  ...given: Parameters<F>
) => Promise<Awaited<ReturnType<F>>>

export type App = {
  startServer: Later<typeof startServer>
  openClient: Later<typeof openClient>
  openAccounts: Later<typeof openAccounts>
  importCommand: Later<typeof importCommand>
  examine: Later<typeof examine>
  findServing: Later<typeof findServing>
  findServerOn: Later<typeof findServerOn>
}
