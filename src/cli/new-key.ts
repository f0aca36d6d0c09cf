// `oncebox new-key FILE`: makes an instance key for several nodes, before the first one starts.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { App } from './app.ts'
import { UsageError } from './failures.ts'
import { readOperands } from './flags.ts'
import type { Shell } from './shell.ts'

const HELP =
  'Makes the file of a new instance key, which nobody else can read, and never over another file. The nodes of one PostgreSQL ' +
  'database (--database-url) all need the same --key-file. A server with a data folder makes its key by itself.'

const EXAMPLES = `
Examples:
  oncebox new-key /etc/oncebox/instance.key
  oncebox serve --database-url postgres://oncebox@db.example/oncebox --key-file /etc/oncebox/instance.key`

export function addNewKeyCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('new-key')
    .usage('FILE')
    .summary('make the instance key for several nodes')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  command.action(() => {
    const { operands, problems } = readOperands(command, { names: ['FILE'] })
    const [file] = operands
    if (problems.length > 0 || file === undefined) throw new UsageError(problems, 'oncebox new-key')
    const path = resolve(shell.place.cwd, file)
    const fingerprint = app.makeNewKey(path)
    shell.print(`${path} holds a new instance key, fingerprint ${fingerprint}.`)
    shell.say('Keep a copy apart from the database and its backups: without the key every push is lost.')
  })
}
