// The manual page of the package, oncebox(1), made of the same table of commands as `--help`.

import type { Command, Option } from 'commander'
import { createProgram } from '../../src/cli/program.ts'
import { createParts } from '../../src/cli/run.ts'
import { type Setting, variableOf } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/table.ts'

const FLAGS = Object.values<Setting>(settings).filter(({ variableOnly }) => !variableOnly)
const SETTINGS: ReadonlySet<string> = new Set(FLAGS.map(({ flag }) => `--${flag}`))

/** `time` in seconds: the date on the page. */
export function manPage({ version, time }: { version: string; time: number }): string {
  const { shell, app } = createParts({ env: {}, now: () => time * 1000, uptime: () => 0 })
  const place = { env: {}, platform: 'linux', home: '~', cwd: '/' } as const
  const program = createProgram({ shell: { ...shell, place }, app }, null)
  const serve = program.commands.find((command) => command.name() === 'serve')
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  return [
    `.TH ONCEBOX 1 "${date}" "Oncebox ${roff(version)}" "User Commands"`,
    // No hyphens in flags and paths.
    ...['.nh', '.ad l'],
    ...['.SH NAME', `oncebox \\- ${roff('share secrets by links that open a limited number of times')}`],
    ...['.SH SYNOPSIS', `.B oncebox\n${roff(program.usage())}`],
    ...['.SH DESCRIPTION', roff(program.description())],
    roff('Without a command it starts the server, as serve does.'),
    ...['.SH COMMANDS', ...program.commands.flatMap((command) => describe(command, 'oncebox'))],
    '.SH SETTINGS',
    roff('Flags of serve, and of the commands that say so. The environment may set them as well.'),
    ...(serve?.options.filter(isSetting).flatMap(presentOption) ?? []),
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

/** A group shows its commands, which say all. */
function describe(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`
  const { commands } = command
  const own = [
    `.SS "${roff(`${name} ${command.usage().replace('[flags]', '')}`.trim())}"`,
    roff(command.description()),
    ...command.options.filter((option) => !isSetting(option) && !option.hidden).flatMap(presentOption),
    ...takenSettings(command),
  ]
  return [...own, ...commands.flatMap((child) => describe(child, name))]
}

function takenSettings(command: Command): string[] {
  const taken = command.options.filter((option) => isSetting(option) && !option.hidden)
  if (taken.length === 0) return []
  const names = taken.map(({ long }) => long).join(', ')
  return ['.PP', roff(taken.length === SETTINGS.size ? 'Takes all SETTINGS.' : `SETTINGS: ${names}.`)]
}

function isSetting({ long }: Option): boolean {
  return SETTINGS.has(long ?? '')
}

function presentOption({ flags, description }: Option): string[] {
  return ['.TP', `.B ${roff(flags)}`, roff(description)]
}

/** Text as roff shows it as it is. A line must not begin with a control character. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/\s*\n\s*/g, '\n')
    .replace(/^[.']/gm, '\\&$&')
}
