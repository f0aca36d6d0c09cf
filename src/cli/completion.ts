// `oncebox completion SHELL`: a script that completes commands and flags, with a table of all words.
//
// The script does not run the program at each press of the tab key: it would pass the typed line, which may
// contain a secret, as an argument that other users of the machine can see.

import { type Command, childrenOf, operandsOf, shownSettings, wordOf } from './command.ts'
import bash from './completion/bash.template' with { type: 'text' }
import fish from './completion/fish.template' with { type: 'text' }
import powershell from './completion/powershell.template' with { type: 'text' }
import zsh from './completion/zsh.template' with { type: 'text' }
import { ownFlagsOf, summaryOf } from './manual.ts'

const SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish, powershell }

export function completionScript(shell: string, commands: readonly Command[]): string {
  const rows = [undefined, ...commands].flatMap((row) => rowsOf(row, commands))
  return (SCRIPTS[shell] ?? '').replace('@ROWS@', () => rows.map((cells) => cells.join('\t')).join('\n'))
}

/** A command, the kind of a word that may follow it, the word, and its summary. */
type Row = [command: string, kind: string, word: string, summary: string]

/** `row` is undefined for the program itself. */
function rowsOf(row: Command | undefined, commands: readonly Command[]): Row[] {
  const name = `oncebox ${row?.name ?? ''}`.trim()
  const words = childrenOf(commands, row?.name ?? '').map(
    (child) => [wordOf(child), summaryOf(child.name)] as const,
  )
  const choices = row === undefined ? [] : operandsOf(row).flatMap(({ choices }) => choices)
  const flags = row === undefined ? [] : [...ownFlagsOf(row), ...shownSettings(row)]
  return [
    ...[...words, ...choices.map((word) => [word, word] as const)].map(
      ([word, summary]): Row => [name, 'command', word, plain(summary)],
    ),
    ...flags.map(({ flag, help, placeholder }): Row => [name, kindOf(placeholder), `--${flag}`, plain(help)]),
    [name, 'none', row === undefined ? '--version' : '--help', 'show it'],
  ]
}

/** Returns the kind of a flag's value: none, a path, any text, or a list of words. */
function kindOf(placeholder: string): string {
  if (placeholder === '') return 'none'
  if (/^\w+(\|\w+)+$/.test(placeholder)) return placeholder.replaceAll('|', ',')
  return ['path', 'file', 'folder'].includes(placeholder) ? 'path' : 'text'
}

/** Returns the first line, without characters that one of the shells treats specially. */
function plain(help: string): string {
  return (help.split('\n')[0] ?? '')
    .replace(/\.$/, '')
    .replace(/['"]/g, '’')
    .replace(/[[\]\\\t]/g, ' ')
}
