// Blanks out comments, strings and regular expressions, so that a search for operators finds only code.

/** Matches text after which a slash begins a regular expression instead of a division. */
const BEFORE_REGEX = /(?:^|[([{,;:=!?&|+\-*%<>~^]|\b(?:return|typeof|case|in|of|throw|await|yield|void))\s*$/

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
/** Matches the text of a template, up to its end or the next embedded expression. */
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y

/**
 * Returns TypeScript (without JSX) with every character of comments, strings and regular expressions replaced
 * by a blank.
 */
export function codeOnly(source: string): string {
  let code = ''
  /** The open brackets in the embedded expression of each template around this place. */
  const templates: number[] = []

  function blank(pattern: RegExp): string | null {
    pattern.lastIndex = code.length
    const [found] = pattern.exec(source) ?? []
    if (found === undefined) return null
    code += found.replace(/[^\n]/g, ' ')
    return found
  }

  function readTemplateText(): void {
    if (blank(TEMPLATE_TEXT)?.endsWith('${')) templates.push(0)
  }

  /** Whether the bracket ended an embedded expression. */
  function countBracket(character: string): boolean {
    const open = templates.at(-1)
    if (open === undefined) return false
    if (character === '}' && open === 0) return templates.pop() !== undefined
    templates[templates.length - 1] = open + (character === '{' ? 1 : character === '}' ? -1 : 0)
    return false
  }

  while (code.length < source.length) {
    if (blank(COMMENT) !== null || blank(STRING) !== null) continue
    const character = source[code.length] ?? ''
    if (character === '/' && BEFORE_REGEX.test(code.trimEnd()) && blank(REGEX) !== null) continue
    const endsExpression = countBracket(character)
    const isText = character === '`' || endsExpression
    code += isText ? ' ' : character
    if (isText) readTemplateText()
  }
  return code
}
