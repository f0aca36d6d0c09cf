// What the commands that speak to a server may be told by flags and environment.

import { apiToken, path, profileName, serverUrl } from './parsers.ts'
import type { Table } from './setting.ts'

export const caSettings = {
  cacert: {
    flag: 'cacert',
    group: 'Server',
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'what the login remembers, else none',
    help: 'Certificates to trust beside the usual ones, such as that of your own authority (PEM or DER)',
  },
} satisfies Table

/** For the commands that speak to a server. */
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
    defaultWords: 'the one that was logged in first',
    help: 'Name of a login, when there are several',
  },
  ...caSettings,
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
