// Which pushes there are, and who may create them.

import { off, on, type Table } from '../setting.ts'

const group = 'Pushes and accounts'

export const pushesSettings = {
  anonymousAccess: {
    flag: 'anonymous-access',
    group,
    ...on,
    help: 'Whether people without an account may use the API and create pushes; anyone may open links',
  },
  signups: {
    flag: 'signups',
    group,
    ...off,
    help: 'Whether anyone may create an account; otherwise administrators send invitations',
  },
  files: {
    flag: 'files',
    group,
    ...on,
    help: 'Whether files may be pushed, which always requires an account',
  },
  urlPushes: {
    flag: 'url-pushes',
    group,
    ...on,
    help: 'Whether links may be pushed',
  },
  qrPushes: {
    flag: 'qr-pushes',
    group,
    ...on,
    help: 'Whether QR codes may be pushed',
  },
} satisfies Table
