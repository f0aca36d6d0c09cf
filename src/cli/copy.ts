// `oncebox copy`: brings everything of a data folder to PostgreSQL, or back into a folder, and leaves the source.

import { type CopyConfig, type CopyEnds, copyEverything } from '../app/copy.ts'
import { confirm } from './ask.ts'
import type { Given } from './command.ts'
import { formatCount } from './format.ts'
import { createTellProgress } from './progress.ts'

type CopyFlags = CopyEnds & { yes: boolean }

export async function copy({ flags, config, shell }: Given<CopyFlags, CopyConfig>): Promise<void> {
  if (!flags.yes)
    await confirm(shell, 'What opens pushes is then destroyed at the source. Copy everything now?')
  const tell = createTellProgress(shell)
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
  shell.say(`Serve ${to} with the same --key-file. ${from} is never served again: remove it once that works.`)
}
