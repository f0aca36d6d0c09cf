// Parses manual.txt into a page for the program and one for each command: prose, whose first sentence is the
// summary, flags, and examples.

import type { Setting } from '../settings/setting.ts'
import type { Command } from './command.ts'
import manual from './manual.txt' with { type: 'text' }

type Page = { help: string; flags: ReadonlyMap<string, string>; examples: string | undefined }

const pages = new Map(manual.split(/^== /m).slice(1).map(parsePage))

function parsePage(section: string): [name: string, page: Page] {
  const [name = ''] = section.split('\n', 1)
  const [text = '', examples] = section.slice(name.length).split('\nExamples:\n')
  const [prose = '', list = ''] = text.split('\nFlags:\n')
  const flags = list.split(/^ {2}--/m).map((entry): [flag: string, help: string] => {
    const [flag = '', ...words] = entry.trim().split(/\s+/)
    return [flag, words.join(' ')]
  })
  return [
    name,
    { help: prose.trim().replaceAll('\n', ' '), flags: new Map(flags), examples: examples?.trimEnd() },
  ]
}

/** Returns the page of a command, or of the program if `name` is empty. */
export function pageOf(name: string): Page {
  return pages.get(`oncebox ${name}`.trim()) ?? { help: '', flags: new Map(), examples: undefined }
}

export function summaryOf(name: string): string {
  const [sentence = ''] = pageOf(name).help.split(/\.(?:\s|$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** Returns the command's own flags with their help from the manual. */
export function ownFlagsOf({ name, flags = {} }: Command): Setting[] {
  const said = pageOf(name).flags
  return Object.values<Setting>(flags).map((flag) => ({ ...flag, help: said.get(flag.flag) ?? flag.help }))
}
