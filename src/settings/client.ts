// Settings of the client commands, read from flags and the environment.

import { apiToken, profileName, serverUrl } from './parsers.ts'
import { file, section } from './setting.ts'

const group = 'Server'

export const caSettings = section(group, {
  cacert: {
    ...file,
    defaultWords: 'the one stored with the login, else none',
    help: 'More certificates to trust, such as the one of your own authority (PEM or DER)',
  },
})

/** Settings of commands that call a server. */
export const clientSettings = section(group, {
  server: {
    placeholder: 'url',
    parse: serverUrl,
    default: null,
    defaultWords: 'the one of the profile, else http://127.0.0.1:5100',
    help: 'Address of the server',
  },
  profile: {
    placeholder: 'name',
    parse: profileName,
    default: null,
    defaultWords: 'the first login',
    help: 'Name of the login to use, when there are several',
  },
  ...caSettings,
})

/** Read from the environment only, because other users of the machine can see the arguments of commands. */
export const clientSecrets = section(group, {
  apiToken: {
    flag: 'token',
    placeholder: 'token',
    parse: apiToken,
    default: null,
    defaultWords: 'the one of the profile',
    file: true,
    secret: true,
    variableOnly: true,
    help: 'API token',
  },
})
