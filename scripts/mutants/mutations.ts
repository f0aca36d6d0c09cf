// Finds the places where one token can be changed so that the program still parses but has another meaning.

import { codeOnly } from './code-only.ts'

/** A change of one file: `text` replaces the characters from `start` to `end` (exclusive). */
export type Mutation = { path: string; start: number; end: number; text: string; line: number; label: string }

type Rule = { find: RegExp; replace: string }

// The formatter puts blanks around operators, and none around the brackets of a type.
const RULES: readonly Rule[] = [
  { find: / < /g, replace: ' <= ' },
  { find: / <= /g, replace: ' < ' },
  { find: / > /g, replace: ' >= ' },
  { find: / >= /g, replace: ' > ' },
  { find: / === /g, replace: ' !== ' },
  { find: / !== /g, replace: ' === ' },
  { find: / && /g, replace: ' || ' },
  { find: / \|\| /g, replace: ' && ' },
  { find: / \+ 1\b/g, replace: ' - 1' },
  { find: / - 1\b/g, replace: ' + 1' },
  { find: /\bMath\.min\b/g, replace: 'Math.max' },
  { find: /\bMath\.max\b/g, replace: 'Math.min' },
  { find: /(?<=[(\s])!(?=[a-zA-Z(])/g, replace: '' },
  { find: /\btrue\b/g, replace: 'false' },
  { find: /\bfalse\b/g, replace: 'true' },
  // Omits a check.
  { find: /(?<=^ *)(?:await )?(?:\w+\.)*require\w*\(.*\)$/gm, replace: '' },
]

/**
 * Returns all mutations of a file, in the order of the rules, without those that only change a type or do not
 * parse.
 */
export function findMutations(path: string, source: string): Mutation[] {
  const code = codeOnly(source)
  const original = compile(source)
  const all = RULES.flatMap(({ find, replace }) =>
    [...code.matchAll(find)].map((match) => {
      const start = match.index
      const end = start + match[0].length
      const line = source.slice(0, start).split('\n').length
      const label = `${source.slice(start, end).trim()} -> ${replace.trim() || '(left out)'}`
      return { path, start, end, text: replace, line, label }
    }),
  )
  return all.filter((mutation) => {
    const mutant = compile(applyMutation(source, mutation))
    return mutant !== null && mutant !== original
  })
}

export function applyMutation(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end)
}

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Returns the program without types and comments; null when it does not parse. */
function compile(source: string): string | null {
  try {
    return transpiler.transformSync(source)
  } catch {
    return null
  }
}
