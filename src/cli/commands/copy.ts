// `oncebox copy`: copies all data of a data folder to PostgreSQL, or back into a folder. The source is never
// served again.

import { credentialProblemsIn } from '../../settings/bucket.ts'
import { databaseUrl } from '../../settings/database-parsers.ts'
import { confirm, consentProblem } from '../ask.ts'
import { command, some, toggle, valued } from '../command.ts'
import { formatCount } from '../format.ts'
import { createTellProgress } from '../progress.ts'

export const COPY = command({
  name: 'copy',
  flags: {
    to: valued('to <address>', databaseUrl),
    from: valued('from <address>', databaseUrl),
    yes: toggle('yes'),
  },
  oneOf: [['to', 'from']],
  settings: some('dataDir', 'keyFile', 'filesUrl', 's3AccessKeyId', 's3SecretAccessKey', 'databasePassword'),
  isOnData: true,
  problems: ({ flags, config, shell }) => [
    !(flags.to ?? flags.from) && '--to or --from is missing: the address of PostgreSQL',
    !config.keyFile && '--key-file is missing: in a data folder, it is the file instance.key',
    ...credentialProblemsIn(config),
    consentProblem({ flags, shell }),
  ],
  act: async ({ flags, config, shell }) => {
    if (!flags.yes) await confirm(shell, 'The source is never served again. Copy everything now?')
    const tell = createTellProgress(shell)
    const { copyEverything } = await import('../../app/copy.ts')
    const { from, to, counts } = await copyEverything(flags, config, {
      now: shell.now(),
      onWarning: shell.warn,
      onProgress: (what, done) => tell(`${done} ${what}`),
    })
    const { accounts = 0, pushes = 0, audit_entries: entries = 0, files = 0 } = counts
    const said = [
      formatCount(accounts, 'account'),
      formatCount(pushes, 'push', 'pushes'),
      formatCount(files, 'file'),
    ]
    shell.print(
      `Copied ${said.join(', ')} and ${formatCount(entries, 'log entry', 'log entries')} from ${from} to ${to}.`,
    )
    shell.say(
      `Serve ${to} with the same --key-file. ${from} still holds all secrets: remove it once that works.`,
    )
  },
})
