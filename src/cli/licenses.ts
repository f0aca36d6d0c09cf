// `oncebox licenses`: what is embedded in the binary, and under which terms.

import type { Command } from 'commander'
import licenses from './licenses.txt' with { type: 'file' }
import type { Shell } from './shell.ts'

export function addLicensesCommand(program: Command, shell: Shell): void {
  program
    .command('licenses')
    .usage('')
    .summary('show the licences of everything that is embedded')
    .description(
      'Shows the packages that are embedded in this binary with their versions, and their licences in full.',
    )
    .action(async () => shell.printExactly(await Bun.file(licenses).text()))
}
