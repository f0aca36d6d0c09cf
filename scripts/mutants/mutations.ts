// Finds the places where one token can be changed so that the program still parses and means something else.

/** One change of one file: `text` replaces what stands from `start` up to, not including, `end`. */
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
  { find: /\btrue\b(?! \|)/g, replace: 'false' },
  { find: /\bfalse\b(?! \|)/g, replace: 'true' },
  // A check that is left out.
  { find: /(?<=^ *)(?:await )?(?:\w+\.)*require\w*\(.*\)$/gm, replace: '' },
]

/** All mutations of one file, in the order of the rules. */
export function findMutations(path: string, source: string): Mutation[] {
  const code = blankOut(source)
  return RULES.flatMap(({ find, replace }) =>
    [...code.matchAll(find)].map((match) => {
      const start = match.index
      const end = start + match[0].length
      const line = source.slice(0, start).split('\n').length
      const label = `${match[0].trim()} -> ${replace.trim() || '(left out)'}`
      return { path, start, end, text: replace, line, label }
    }),
  )
}

export function applyMutation(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end)
}

const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|^(?:import|export type|type)\b.*$/gm

/** The source with comments, plain strings, imports and one-line types replaced by blanks of the same length. */
function blankOut(source: string): string {
  return source.replace(NOT_CODE, (found) => found.replace(/[^\n]/g, ' '))
}
