// The parts of the app that commands use and tests replace. Each is loaded when a command needs it.

function lazily<A extends unknown[], R>(load: () => Promise<(...given: A) => R>) {
  return async (...given: A): Promise<Awaited<R>> => await (await load())(...given)
}

export const app = {
  startServer: lazily(async () => (await import('../app.ts')).startServer),
  openClient: lazily(async () => (await import('../app/clients.ts')).openClient),
  randomText: lazily(async () => (await import('../app/clients.ts')).randomText),
  openAccounts: lazily(async () => (await import('../app/account-commands.ts')).openAccounts),
  importCommand: lazily(async () => (await import('../app/import-command.ts')).importCommand),
  examine: lazily(async () => (await import('../app/doctor/doctor.ts')).examine),
  findServing: lazily(async () => (await import('../app/serving.ts')).findServing),
  findServerOn: lazily(async () => (await import('../app/serving.ts')).findServerOn),
}

export type App = typeof app
