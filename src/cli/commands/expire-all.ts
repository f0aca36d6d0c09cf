// `oncebox expire-all`: expires every push of a PostgreSQL database that was restored to an earlier state, so
// that nodes can serve it again.

import { databaseAddressOf } from '../../settings/database.ts'
import { confirm, consentProblem } from '../ask.ts'
import { command, some, toggle } from '../command.ts'
import { formatCount } from '../format.ts'
import { createTellProgress } from '../progress.ts'

const NEXT = [
  'Start the nodes now.',
  'API tokens and accounts are in the state of the restored copy: check "oncebox user list" and "oncebox token list EMAIL", and ' +
    'again revoke and disable those that were revoked or disabled since.',
]

export const EXPIRE_ALL = command({
  name: 'expire-all',
  flags: { yes: toggle('yes') },
  settings: some('databaseUrl', 'databasePassword'),
  isOnData: true,
  problems: ({ flags, config, shell }) => [
    config.databaseUrl === null &&
      '--database-url is missing: this is for PostgreSQL. In a data folder that "oncebox restore" made, everything has expired already',
    consentProblem({ flags, shell }),
  ],
  act: async ({ flags, config, shell }) => {
    const address = databaseAddressOf(config)
    if (address === null) return
    const { openToExpire } = await import('../../app/expire-all.ts')
    await using database = await openToExpire(address)
    const { where, livePushes, expireAll } = database
    shell.say(
      `Database: ${where}`,
      `Pushes that can be opened by their links there: ${livePushes}. All of them will be expired, for ever.`,
      'All users must sign in again, and invitations and password links stop working.',
    )
    if (!flags.yes) await confirm(shell, 'Expire every push now?')
    const tell = createTellProgress(shell)
    const { lost, leftPrefix } = await expireAll((done) => tell(`${done} pushes`))
    shell.print(`${formatCount(lost, 'push is', 'pushes are')} expired.`)
    if (leftPrefix !== null)
      shell.say(
        `Files under ${leftPrefix}/ in the bucket (behind the prefix of --files-url) are not removed: the original of a copy needs ` +
          'them. If there is none, remove them with a tool for the bucket.',
      )
    shell.say(...NEXT)
  },
})
