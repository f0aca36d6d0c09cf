// `oncebox licenses`: the packages embedded in the binary, and their licences.

import type { Command } from 'commander'
import { UsageError } from './failures.ts'
import { readOperands } from './flags.ts'
import licenses from './licenses.txt' with { type: 'file' }
import type { Shell } from './shell.ts'

export function addLicensesCommand(program: Command, shell: Shell): void {
  program
    .command('licenses')
    .usage('[flags]')
    .summary('show the licences of everything that is embedded')
    .description(
      'Shows the packages that are embedded in this binary with their versions, and their licences in full.',
    )
    .action(async (_flags, command: Command) => {
      const { problems } = readOperands(command, { names: [] })
      if (problems.length > 0) throw new UsageError(problems, 'oncebox licenses')
      shell.printExactly(await Bun.file(licenses).text())
    })
}
