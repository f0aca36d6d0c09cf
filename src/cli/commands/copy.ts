// `oncebox copy`: brings everything of a data folder to PostgreSQL, or back into a folder, and leaves the source.

import { credentialProblemsIn } from '../../settings/bucket.ts'
import { databaseUrl } from '../../settings/database-parsers.ts'
import { confirm, consentProblems } from '../ask.ts'
import { command, some, toggle, valued } from '../command.ts'
import { formatCount } from '../format.ts'
import { createTellProgress } from '../progress.ts'

export const COPY = command({
  name: 'copy',
  help:
    'Brings everything to PostgreSQL, or back into a folder. Copies from a stopped server to an empty place: from a data folder ' +
    'to PostgreSQL (--to), or from PostgreSQL into a new data folder (--from). ' +
    'Links, accounts, tokens and logs stay the same, and so does the instance key, which --key-file names. Once the copy is ' +
    'complete and compared, what opens pushes is destroyed at the source, which is never served again. Broken off before that, the ' +
    'source is as it was. Whatever ended it: run it again, and it completes the copy, or says what to do.',
  examples: `  oncebox copy --data-dir /var/lib/oncebox --to postgres://oncebox@db.example/oncebox \\
      --key-file /etc/oncebox/instance.key --files-url 's3://boxes/office?endpoint=https://s3.example'`,
  flags: {
    to: valued(
      'to <address>',
      'The empty PostgreSQL database to which the data folder is copied',
      databaseUrl,
    ),
    from: valued(
      'from <address>',
      'The PostgreSQL database that is copied into a new data folder',
      databaseUrl,
    ),
    yes: toggle('yes', 'Copy, and leave the source, without asking. Needed without a terminal'),
  },
  oneOf: [['to', 'from']],
  settings: some('dataDir', 'keyFile', 'filesUrl', 's3AccessKeyId', 's3SecretAccessKey', 'databasePassword'),
  isOnData: true,
  problems: ({ flags, config, shell }) => [
    ...((flags.to ?? flags.from) ? [] : ['--to or --from is missing: the address of PostgreSQL']),
    ...(config.keyFile ? [] : ['--key-file is missing: in a data folder, it is the file instance.key']),
    ...credentialProblemsIn(config),
    ...consentProblems({ flags, shell }),
  ],
  act: async ({ flags, config, shell }) => {
    if (!flags.yes)
      await confirm(shell, 'What opens pushes is then destroyed at the source. Copy everything now?')
    const tell = createTellProgress(shell)
    const { copyEverything } = await import('../../app/copy.ts')
    const { from, to, counts } = await copyEverything(flags, config, {
      now: shell.now(),
      onWarning: (line) => shell.say(`oncebox: warning: ${line}`),
      onProgress: (what, done) => tell(`${done} ${what}`),
    })
    const { accounts = 0, pushes = 0, audit_entries: entries = 0, files = 0 } = counts ?? {}
    const said = [
      formatCount(accounts, 'account'),
      formatCount(pushes, 'push', 'pushes'),
      formatCount(files, 'file'),
    ]
    shell.print(
      counts === null
        ? `Everything of ${from} was in ${to} already, which is ready now.`
        : `Copied ${said.join(', ')} and ${formatCount(entries, 'log entry', 'log entries')} from ${from} to ${to}.`,
    )
    shell.say(
      `Serve ${to} with the same --key-file. ${from} is never served again: remove it once that works.`,
    )
  },
})
