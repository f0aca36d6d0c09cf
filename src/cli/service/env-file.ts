// The file with the settings of a service, in the syntax of systemd's EnvironmentFile=.

import { type Table, variableOf } from '../../settings/setting.ts'

export type Variables = Readonly<Record<string, string>>

/** Quoted parts may only begin a value; in what follows them, quotes are ordinary characters. */
const LINE =
  /^[ \t]*([A-Za-z_]\w*)=[ \t]*((?:"(?:\\[\s\S]|[^"\\])*"|'[^']*')*)((?:\\[\s\S]|[^\n\\])*)(?:\n|$)/gm
const COMMENT = /^[ \t]*[#;].*$/gm

/** Of several lines with the same name, the last one wins. */
export function parseEnvFile(text: string): Record<string, string> {
  const lines = text.replaceAll('\r\n', '\n').replace(COMMENT, '').matchAll(LINE)
  return Object.fromEntries(
    [...lines].map(([, name = '', quoted = '', plain = '']) => [
      name,
      unquote(quoted) + withoutEscapes(plain),
    ]),
  )
}

function unquote(text: string): string {
  return text.replace(/"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
    double === undefined ? (single ?? '') : double.replace(/\\(["\\$`])/g, '$1').replaceAll('\\\n', ''),
  )
}

function withoutEscapes(text: string): string {
  return text.trimEnd().replace(/\\([\s\S]?)/g, (_, next: string) => (next === '\n' ? '' : next))
}

const PLAIN = /^[\w./:@%+,=-]*$/

function presentLine(name: string, value: string): string {
  return `${name}=${PLAIN.test(value) ? value : `"${value.replace(/["\\$`]/g, '\\$&')}"`}\n`
}

/** Sets variables in the text of a file and keeps everything else. */
export function setInEnvFile(text: string, values: Variables): string {
  return Object.entries(values).reduce((before, [name, value]) => {
    const line = presentLine(name, value)
    const existing = new RegExp(LINE.source.replace('([A-Za-z_]\\w*)', `(${name})`), 'gm')
    if (existing.test(before)) return before.replace(existing, () => line)
    return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}`
  }, text)
}

/** The initial text of the file. `restart` is the command that applies changes. */
export function newEnvFile(restart: string): string {
  return [
    '# Settings of the Oncebox service, a line each; "oncebox serve --help" lists them.',
    `# After a change: ${restart}. After a change of a folder, a file or a port below 1024 instead,`,
    '# because the rights of the service depend on them: oncebox service install',
    '#',
    '# ONCEBOX_LAN=true',
    '# ONCEBOX_BASE_URL=https://once.example',
    '# ONCEBOX_TRUSTED_PROXY=127.0.0.1',
    '',
  ].join('\n')
}

/** The given flags of `oncebox service install`, as variables. */
export function variablesOf(table: Table, flags: Readonly<Record<string, readonly string[] | undefined>>) {
  return Object.fromEntries(
    Object.values(table).flatMap((setting) => {
      const given = flags[setting.flag]
      if (given === undefined) return []
      return [[variableOf(setting), setting.list ? given.join(',') : (given.at(-1) ?? '')]]
    }),
  )
}
