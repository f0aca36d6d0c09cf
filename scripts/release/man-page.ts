// The manual page of the package, oncebox(1), made of the same table of commands as `--help`.

import { type Command, shownSettings } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { describe, termOf, usageOf } from '../../src/cli/help.ts'
import { ownFlagsOf, pageOf } from '../../src/cli/manual.ts'
import { type Setting, variableOf } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/table.ts'

/** `time` in seconds: the date on the page. */
export function manPage({ version, time }: { version: string; time: number }): string {
  const serve = COMMANDS.find(({ name }) => name === 'serve')
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  return [
    `.TH ONCEBOX 1 "${date}" "Oncebox ${roff(version)}" "User Commands"`,
    // Turn hyphenation off, which would break flags and paths.
    ...['.nh', '.ad l'],
    ...['.SH NAME', `oncebox \\- ${roff('share secrets by links that open a limited number of times')}`],
    ...['.SH SYNOPSIS', `.B oncebox\n${roff('[COMMAND] [flags]')}`],
    ...['.SH DESCRIPTION', roff(pageOf('').help)],
    roff('Without a command it starts the server, as serve does.'),
    ...['.SH COMMANDS', ...COMMANDS.flatMap(presentCommand)],
    '.SH SETTINGS',
    roff('Flags of serve, and of the commands that say so. The environment may set them as well.'),
    ...shownSettings(serve).map(describe).flatMap(presentOption),
    ...Object.values<Setting>(settings)
      .filter(({ variableOnly }) => variableOnly)
      .flatMap((setting) => ['.TP', `.B ${roff(variableOf(setting))}`, roff(setting.help)]),
    ...['.SH FILES', ...FILES.flatMap(([path, what]) => ['.TP', `.I ${roff(path)}`, roff(what)])],
    ...[
      '.SH SEE ALSO',
      roff('The pages in /usr/share/doc/oncebox/docs, and damage.md there when the disk is at fault.'),
    ],
    '',
  ].join('\n')
}

const FILES = [
  ['/etc/oncebox/oncebox.env', 'Settings of the service of this machine, a line each.'],
  ['/var/lib/oncebox', 'Its data: the database, the files and the instance key.'],
  ['~/.local/share/oncebox', 'The data of a server that a user starts.'],
  ['~/.config/oncebox/client.json', 'The servers that a user is logged in to, with their tokens.'],
] as const

function presentCommand(row: Command): string[] {
  const flags = ownFlagsOf(row).map((flag) => [termOf(flag), flag.help] as const)
  return [
    `.SS "${roff(`oncebox ${usageOf(row)}`.replace('[flags]', '').trim())}"`,
    roff(pageOf(row.name).help),
    ...flags.flatMap(presentOption),
    ...takenSettings(row),
  ]
}

function takenSettings(row: Command): string[] {
  const taken = shownSettings(row)
  if (taken.length === 0) return []
  const names = taken.map(({ flag }) => `--${flag}`).join(', ')
  return ['.PP', roff(row.settings === settings ? 'Takes all SETTINGS.' : `Settings: ${names}.`)]
}

function presentOption([term, text]: readonly [string, string]): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(text)]
}

/** Escapes text for roff. A line must not begin with a control character. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/\s*\n\s*/g, '\n')
    .replace(/^[.']/gm, '\\&$&')
}
