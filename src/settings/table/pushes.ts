// Which pushes there are, and who may create them.

import { off, on, type Table } from '../setting.ts'

const group = 'Pushes and accounts'

export const pushesSettings = {
  anonymousAccess: {
    flag: 'anonymous-access',
    group,
    ...on,
    help: 'Whether people without an account may create pushes and use the API; anyone may open secret links',
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
    help: 'Whether files may be shared, which always needs an account',
  },
  urlPushes: {
    flag: 'url-pushes',
    group,
    ...on,
    help: 'Whether links may be shared',
  },
  qrPushes: {
    flag: 'qr-pushes',
    group,
    ...on,
    help: 'Whether QR codes may be shared',
  },
} satisfies Table
