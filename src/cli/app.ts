// What commands ask of the app where tests put something else in its place. Each part is loaded when a command needs it.

import type { openAccounts } from '../app/account-commands.ts'
import type { openClient } from '../app/clients.ts'
import type { examine } from '../app/doctor/doctor.ts'
import type { importCommand } from '../app/import-command.ts'
import type { findServerOn, findServing } from '../app/serving.ts'
import type { startServer } from '../app.ts'

type Given<F extends (...given: never) => unknown> = Parameters<F>

export const app = {
  startServer: async (...given: Given<typeof startServer>) =>
    (await import('../app.ts')).startServer(...given),
  openClient: async (...given: Given<typeof openClient>) =>
    (await import('../app/clients.ts')).openClient(...given),
  openAccounts: async (...given: Given<typeof openAccounts>) =>
    (await import('../app/account-commands.ts')).openAccounts(...given),
  importCommand: async (...given: Given<typeof importCommand>) =>
    (await import('../app/import-command.ts')).importCommand(...given),
  examine: async (...given: Given<typeof examine>) =>
    (await import('../app/doctor/doctor.ts')).examine(...given),
  findServing: async (...given: Given<typeof findServing>) =>
    (await import('../app/serving.ts')).findServing(...given),
  findServerOn: async (...given: Given<typeof findServerOn>) =>
    (await import('../app/serving.ts')).findServerOn(...given),
}

export type App = typeof app
