// The file with the settings of a service, in the syntax of systemd's EnvironmentFile=.

import { fillTemplate } from './service-system.ts'
import settingsFile from './templates/oncebox.env.template' with { type: 'text' }

export type Variables = Readonly<Record<string, string>>

/** `problems`: a sentence for each line that systemd would skip, and for each name that has no effect. */
export type EnvFile = { variables: Record<string, string>; problems: string[] }

const NAME = '[A-Za-z_]\\w*'
/** Quotes count only at the beginning of a value; later ones are ordinary characters. */
const QUOTED = String.raw`(?:[ \t]*(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'))*`
const PLAIN_PART = String.raw`(?![ \t"'])(?:\\[\s\S]?|[^\n\\])*`
/** Ignores blanks around the name and before the value, as systemd does. */
const assignment = (name: string) =>
  String.raw`[ \t]*(${name})[ \t]*=(${QUOTED})[ \t]*(${PLAIN_PART})(?:\n|$)`
const EMPTY = String.raw`[ \t]*(?:[#;][^\n]*)?(?:\n|$)`

/** Parses the file as systemd does: if several lines set a variable, the last one wins. Never throws. */
export function parseEnvFile(text: string): EnvFile {
  const rest = text.replace(/\r\n?/g, '\n')
  const statement = new RegExp(`${assignment(NAME)}|${EMPTY}|[^\n]*(?:\n|$)`, 'y')
  const found: EnvFile = { variables: {}, problems: [] }
  while (statement.lastIndex < rest.length) {
    const line = rest.slice(0, statement.lastIndex).split('\n').length
    const [whole = '', name, quoted = '', plain = ''] = statement.exec(rest) ?? []
    const problem = problemOf(whole, name)
    if (problem !== null) found.problems.push(`line ${line}: ${problem}`)
    else if (name !== undefined) found.variables[name] = unquote(quoted) + withoutEscapes(plain)
  }
  return found
}

/** Explains why the line has no effect; null if it has one. Never quotes the value, which may be a secret. */
function problemOf(whole: string, name: string | undefined): string | null {
  if (name !== undefined && /^oncebox_/i.test(name) && name !== name.toUpperCase())
    return `${name} must be written in capitals: ${name.toUpperCase()}`
  if (name !== undefined || new RegExp(`^${EMPTY}$`).test(whole)) return null
  if (whole.startsWith('\ufeff')) return 'begins with a byte order mark: save the file as UTF-8 without it'
  if (/^\s*export\s/.test(whole)) return 'must be NAME=value: leave out the word export'
  return new RegExp(`^\\s*${NAME}\\s*=`).test(whole)
    ? 'must be NAME=value: the quotation mark is not closed'
    : 'must be NAME=value, such as ONCEBOX_PORT=8080'
}

function unquote(text: string): string {
  return text.replace(
    /[ \t]*(?:"((?:\\[\s\S]|[^"\\])*)"|'([^']*)')/g,
    (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replace(/\\(["\\$`])/g, '$1').replaceAll('\\\n', ''),
  )
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\s\S]?)|\s+$/g, (_, next = '') => (next === '\n' ? '' : next))
}

const PLAIN = /^[\w./:@%+,=-]*$/

function presentLine(name: string, value: string): string {
  return `${name}=${PLAIN.test(value) ? value : `"${value.replace(/["\\$`]/g, '\\$&')}"`}\n`
}

/** Sets variables in the text of a file: replaces existing lines, appends new ones, keeps everything else. */
export function setInEnvFile(text: string, values: Variables): string {
  return Object.entries(values).reduce((before, [name, value]) => {
    const line = presentLine(name, value)
    const existing = new RegExp(`^${assignment(name)}`, 'gm')
    if (existing.test(before)) return before.replace(existing, () => line)
    return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}`
  }, text)
}

/** The initial text of the settings file. `restart` is the command that applies changes. */
export function newEnvFile(restart: string): string {
  return fillTemplate(settingsFile, { restart })
}
