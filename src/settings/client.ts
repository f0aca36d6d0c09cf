// Settings of the client commands, read from flags and the environment.

import { apiToken, path, profileName, serverUrl } from './parsers.ts'
import type { Table } from './setting.ts'

export const caSettings = {
  cacert: {
    flag: 'cacert',
    group: 'Server',
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'the one stored with the login, else none',
    help: 'More certificates to trust, such as the one of your own authority (PEM or DER)',
  },
} satisfies Table

/** For commands that call a server. */
export const clientSettings = {
  server: {
    flag: 'server',
    group: 'Server',
    placeholder: 'url',
    parse: serverUrl,
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
    defaultWords: 'the first login',
    help: 'Name of the login to use, when there are several',
  },
  ...caSettings,
} satisfies Table

/** Read from the environment only, because other users of the machine can see a command's arguments. */
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
    variableOnly: true,
    help: 'API token',
  },
} satisfies Table
