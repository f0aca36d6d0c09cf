// What the commands need of the app, so that tests can hand in another.

import type { openAccounts } from '../app/account-commands.ts'
import type { openClient, startServer, version } from '../app.ts'

export type App = {
  version: typeof version
  startServer: typeof startServer
  openAccounts: typeof openAccounts
  openClient: typeof openClient
}
