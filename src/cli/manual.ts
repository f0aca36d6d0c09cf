// What the manual says of the program and of each command: prose, whose first sentence stands in lists, and examples.

import manual from './manual.txt' with { type: 'text' }

type Page = { help: string; examples: string | undefined }

const pages = new Map(manual.split(/^== /m).slice(1).map(parsePage))

function parsePage(section: string): [name: string, page: Page] {
  const [name = ''] = section.split('\n', 1)
  const [prose = '', examples] = section.slice(name.length).split('\nExamples:\n')
  return [name, { help: prose.trim().replaceAll('\n', ' '), examples: examples?.trimEnd() }]
}

/** `name` is that of a command, and empty for the program itself. */
export function pageOf(name: string): Page {
  return pages.get(`oncebox ${name}`.trim()) ?? { help: '', examples: undefined }
}

export function summaryOf(name: string): string {
  const [sentence = ''] = pageOf(name).help.split(/\.(?:\s|$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
