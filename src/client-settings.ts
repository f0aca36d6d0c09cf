// What the commands that speak to a server may be told by flags and environment.

import type { Table } from './setting.ts'
import { apiToken, baseUrl, profileName } from './setting-parsers.ts'

/** For the commands that speak to a server. */
export const clientSettings = {
  server: {
    flag: 'server',
    group: 'Server',
    placeholder: 'url',
    parse: baseUrl,
    default: null,
    defaultWords: 'the one of the profile, else http://127.0.0.1:5100',
    help: 'Address of the server',
  },
  profile: {
    flag: 'profile',
    group: 'Server',
    placeholder: 'name',
    parse: profileName,
    default: null,
    defaultWords: 'the one that was logged in first',
    help: 'Name of a login, when there are several',
  },
} satisfies Table

/** Read from the environment alone: other users of a machine see the arguments of a command. */
export const clientSecrets = {
  apiToken: {
    flag: 'token',
    group: 'Server',
    placeholder: 'token',
    parse: apiToken,
    default: null,
    defaultWords: 'the one of the profile',
    file: true,
    secret: true,
    help: 'API token',
  },
} satisfies Table
