// `oncebox completion SHELL`: a script that completes commands and flags, from the table of commands.
//
// The scripts contain all names. A script that ran the program at each press of the tab key would pass it the typed line,
// which may contain a secret, as an argument that other users of the machine can see.

import type { Setting } from '../settings/setting.ts'
import type { Command, Given } from './command.ts'
import {
  bashScript,
  type CompletedCommand,
  type CompletedFlag,
  fishScript,
  powershellScript,
  zshScript,
} from './completion-scripts.ts'

const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
}

export function complete({ operands: [name = ''], shell, commands }: Given): void {
  const described = ['', ...commands.map((row) => row.name)].map((words) => describe(words, commands))
  shell.printExactly(SCRIPTS[name]?.(described) ?? '')
}

/** `words` name a command, and the program itself when they are empty. */
function describe(words: string, commands: readonly Command[]): CompletedCommand {
  const row = commands.find(({ name }) => name === words)
  const below = words === '' ? '' : `${words} `
  const children = commands
    .filter(({ name }) => name.startsWith(below) && !name.slice(below.length).includes(' ') && name !== words)
    .map(({ name, summary }) => ({ name: name.slice(below.length), summary }))
  const operands = words === 'completion' ? Object.keys(SCRIPTS).map((name) => ({ name, summary: '' })) : []
  const settings = Object.values(row?.settings ?? {}).filter(({ variableOnly }) => !variableOnly)
  const own = words === '' ? [VERSION] : [...Object.values(row?.flags ?? {}), ...settings].map(describeFlag)
  return { words, children: [...children, ...operands], flags: [...own, HELP] }
}

const VERSION = { name: 'version', summary: 'print the version', value: 'none' } as const
const HELP = { name: 'help', summary: 'show help', value: 'none' } as const

function describeFlag({ flag, help, placeholder }: Setting): CompletedFlag {
  const [summary = ''] = help.split('\n')
  return { name: flag, summary: summary.replace(/\.$/, ''), value: completedValue(placeholder) }
}

function completedValue(placeholder: string): CompletedFlag['value'] {
  if (placeholder === '') return 'none'
  if (placeholder.includes('|')) return placeholder.split('|')
  return ['path', 'file', 'folder'].includes(placeholder) ? 'path' : 'text'
}
