// Generates the help of the program, of a group and of a command from the table of commands.

import { defaultText, NO_VALUE, type Setting, variableOf } from '../settings/setting.ts'
import { type Command, childrenOf, isGroup, shownSettings, wordOf } from './command.ts'
import { COMMANDS } from './commands.ts'
import { ownFlagsOf, pageOf, summaryOf } from './manual.ts'

type Item = readonly [term: string, text: string]

const HELP_ITEM: Item = ['-h, --help', 'show help; works for each command too']
const VERSION_ITEM: Item = ['-V, --version', 'print the version']

/** `row` is undefined for the program itself. */
export function helpOf(row: Command | undefined, width: number): string {
  const children = childrenOf(COMMANDS, row?.name ?? '')
  const own = (row === undefined ? [] : ownFlagsOf(row)).map((flag): Item => [termOf(flag), flag.help])
  const all = Object.entries<Setting>(row?.settings ?? {})
  const isHelped = ({ group }: Setting) => group === (row?.helpedGroup ?? group)
  const settings = Object.fromEntries(all.filter(([, setting]) => isHelped(setting)))
  const variables = Object.values<Setting>(settings).filter(({ variableOnly }) => variableOnly)
  const { help, examples } = pageOf(row?.name ?? '')
  return [
    `Usage: oncebox ${row === undefined ? '[COMMAND] [flags]' : usageOf(row)}`,
    Bun.wrapAnsi(help, width),
    ...grouped(
      [
        ...[...own, HELP_ITEM, VERSION_ITEM].map((item) => ({ title: 'Options:', item })),
        ...shownSettings({ settings }).map((setting) => ({
          title: `${setting.group}:`,
          item: describe(setting),
        })),
        ...children.map((child) => ({ title: child.heading ?? 'Commands:', item: listed(child) })),
        ...variables.map((setting) => ({
          title: 'Variables without a flag:',
          item: [variablesOf(setting), setting.help] as const,
        })),
      ],
      width,
    ),
    ...(examples === undefined ? [] : [`Examples:\n${examples}`]),
  ].join('\n\n')
}

/** Returns the usage of a command as in the help: `user add EMAIL [flags]`. */
export function usageOf(row: Command): string {
  const { flags = {}, settings = {}, operands } = row
  if (isGroup(row)) return `${row.name} COMMAND`
  const hasFlags = Object.keys({ ...flags, ...settings }).length > 0
  return [row.name, operands, hasFlags ? '[flags]' : undefined].filter(Boolean).join(' ')
}

/** Returns a flag as in the help: `--port <number>`. */
export function termOf({ flag, placeholder, bare }: Setting): string {
  if (placeholder === '') return `--${flag}`
  return `--${flag} ${bare === undefined || bare === NO_VALUE ? `<${placeholder}>` : `[${placeholder}]`}`
}

export function describe(setting: Setting): Item {
  const text = `${setting.help}.\nDefault: ${defaultText(setting)}. Environment: ${variablesOf(setting)}`
  return [termOf(setting), text]
}

function listed(row: Command): Item {
  return [`${wordOf(row)} ${isGroup(row) ? 'COMMAND' : (row.operands ?? '')}`.trim(), summaryOf(row.name)]
}

function variablesOf(setting: Setting): string {
  const variable = variableOf(setting)
  return setting.file ? `${variable} or ${variable}_FILE` : variable
}

function grouped(all: readonly { title: string; item: Item }[], width: number): string[] {
  const titles = [...new Set(all.map(({ title }) => title))]
  return titles.map((title) => {
    const items = all.filter((one) => one.title === title)
    return [title, ...items.map(({ item }) => formatItem(item, width))].join('\n')
  })
}

const TERM_WIDTH = 24

/** Formats an item. Puts a term that is too long on its own line, so that descriptions stay in one column. */
function formatItem([term, text]: Item, width: number): string {
  const indent = ' '.repeat(TERM_WIDTH + 4)
  const lines = Bun.wrapAnsi(text, Math.max(TERM_WIDTH, width - indent.length)).split('\n')
  const column = lines.map((line) => indent + line).join('\n')
  if (term.length > TERM_WIDTH) return `  ${term}\n${column}`
  return `  ${term.padEnd(TERM_WIDTH)}  ${column.slice(indent.length)}`
}
