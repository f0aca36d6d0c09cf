// `oncebox completion SHELL`: a script that completes commands and flags.
//
// The scripts contain all names. A script that ran the program at each press of the tab key would pass it the typed line,
// which may contain a secret, as an argument that other users of the machine can see.

import type { Command, Option } from 'commander'
import { bashScript, fishScript, powershellScript, zshScript } from './completion-scripts.ts'
import { UsageError } from './failures.ts'
import { readOperands } from './flags.ts'
import type { Shell } from './shell.ts'

export type CompletedFlag = {
  name: string
  summary: string
  /** The flag's value: none, any text, a path, or one of these words. */
  value: 'none' | 'text' | 'path' | readonly string[]
}

/** `words` is empty for the program itself. */
export type CompletedCommand = {
  words: string
  children: readonly { name: string; summary: string }[]
  flags: readonly CompletedFlag[]
}

const SCRIPTS = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
} as const

const SHELLS = Object.keys(SCRIPTS)

const EXAMPLES = `
Examples:
  bash         echo 'eval "$(oncebox completion bash)"' >> ~/.bashrc
  zsh          echo 'eval "$(oncebox completion zsh)"' >> ~/.zshrc   (after compinit)
  fish         oncebox completion fish > ~/.config/fish/completions/oncebox.fish
  PowerShell   Add-Content $PROFILE 'oncebox completion powershell | Out-String | Invoke-Expression'`

export function addCompletionCommand(program: Command, shell: Shell): void {
  const command = program
    .command('completion')
    .usage('SHELL')
    .summary('print a script that completes commands and flags in your shell')
    .description(`Prints a script that completes commands and flags. SHELL is one of ${SHELLS.join(', ')}.`)
    .addHelpText('after', EXAMPLES)
  command.action(() => {
    const { operands, problems } = readOperands(command, { names: ['SHELL'], optional: 1 })
    const script = Object.entries(SCRIPTS).find(([name]) => name === operands[0])?.[1]
    if (problems.length > 0) throw new UsageError(problems, 'oncebox completion')
    if (script === undefined) throw new UsageError([shellProblem(operands[0])], 'oncebox completion')
    shell.printExactly(script(describeCommands(program)))
  })
}

function shellProblem(given: string | undefined): string {
  if (given !== undefined) return `SHELL ${JSON.stringify(given)}: must be one of ${SHELLS.join(', ')}`
  const calls = SHELLS.map((name) => `"oncebox completion ${name}"`)
  return `SHELL is missing: call ${calls.slice(0, -1).join(', ')} or ${calls.at(-1)}`
}

/** The program and all of its commands, as the scripts need them. */
export function describeCommands(program: Command): CompletedCommand[] {
  return describe(program, '')
}

function describe(command: Command, words: string): CompletedCommand[] {
  const children = command.commands.map((child) => ({ name: child.name(), summary: child.summary() }))
  const operands = command.name() === 'completion' ? SHELLS.map((name) => ({ name, summary: '' })) : []
  const help = { name: 'help', summary: 'show help', value: 'none' as const }
  const own = {
    words,
    children: [...children, ...operands],
    flags: [...command.options.filter(({ hidden }) => !hidden).map(describeFlag), help].filter(
      ({ name }) => name !== '',
    ),
  }
  return [own, ...command.commands.flatMap((child) => describe(child, `${words} ${child.name()}`.trim()))]
}

function describeFlag({ long, flags, description }: Option): CompletedFlag {
  const [summary = ''] = description.split('\n')
  const placeholder = /[<[]([^<[]+)[>\]]$/.exec(flags)?.[1]
  return {
    name: long?.replace(/^--/, '') ?? '',
    summary: summary.replace(/\.$/, ''),
    value: completedValue(placeholder),
  }
}

function completedValue(placeholder: string | undefined): CompletedFlag['value'] {
  if (placeholder === undefined) return 'none'
  if (placeholder.includes('|')) return placeholder.split('|')
  return ['path', 'file', 'folder'].includes(placeholder) ? 'path' : 'text'
}
