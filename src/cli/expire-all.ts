// `oncebox expire-all`: lets nodes serve a PostgreSQL database again that was set back to an earlier state.

import { type DatabaseToExpire, openToExpire } from '../app/expire-all.ts'
import { type DatabaseConfig, databaseAddressOf } from '../settings/database.ts'
import { confirm } from './ask.ts'
import type { Given } from './command.ts'
import { formatCount } from './format.ts'
import { createTellProgress } from './progress.ts'

type ExpireAll = Given<{ yes: boolean }, Pick<DatabaseConfig, 'databaseUrl' | 'databasePassword'>>

export async function expireAll({ flags, config, shell }: ExpireAll): Promise<void> {
  const address = databaseAddressOf(config)
  if (address === null) return
  const opened = await openToExpire(address)
  try {
    for (const line of present(opened)) shell.say(line)
    if (!flags.yes) await confirm(shell, 'Expire every push now?')
    const tell = createTellProgress(shell)
    const { lost, leftPrefix } = await opened.expireAll((done) => tell(`${done} pushes`))
    shell.print(`${formatCount(lost, 'push is', 'pushes are')} expired.`)
    if (leftPrefix !== null)
      shell.say(
        `Files under ${leftPrefix}/ in the bucket (behind the prefix of --files-url) are not removed: the original of a copy needs ` +
          'them. If there is none, remove them with a tool for the bucket.',
      )
    for (const line of NEXT) shell.say(line)
  } finally {
    await opened.close()
  }
}

function present({ where, livePushes }: DatabaseToExpire): string[] {
  return [
    `Database: ${where}`,
    livePushes === 1
      ? '1 push can be opened by its link there. It will be expired, for ever.'
      : `${livePushes} pushes can be opened by their links there. All of them will be expired, for ever.`,
    'Everybody has to sign in again, and invitations and password links stop working.',
  ]
}

const NEXT = [
  'Start the nodes now.',
  'API tokens and accounts are as they were when the copy was made: see "oncebox user list" and "oncebox token list EMAIL", and ' +
    'revoke or disable again what was revoked or disabled since.',
]
