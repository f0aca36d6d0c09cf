// Parses the words of `oncebox exec`: the sources of secrets, and where the command gets each of them.

import { parseLinkOrToken } from '../../client/link.ts'
import type { Parsed } from '../../settings/parsers.ts'

/** The place of a link: the argument itself, a variable, or a file descriptor. */
type SourceText =
  | { from: 'text'; text: string }
  | { from: 'variable'; variable: string }
  | { from: 'descriptor'; descriptor: number }

/** `isRequest`: the oldest unopened answer to a request of the user. */
export type Source = SourceText & { isRequest: boolean }

/** A secret for the command. `name` is the variable's, or STDIN. */
export type Target = { use: 'env' | 'stdin' | 'file'; name: string; source: Source }

/** The name of standard input in messages and in --passphrase-env. */
export const STDIN = 'stdin'

/** Matches variables that make programs load code, or run another program than the named one. */
const LOADS_CODE = new RegExp(
  `^(${[
    'LD_.*|DYLD_.*|PATH|BASH_ENV|BASH_FUNC.*|BASHOPTS|ENV|IFS|PS4|PROMPT_COMMAND|SHELLOPTS|ZDOTDIR|SHELL',
    'NODE_OPTIONS|NODE_PATH|BUN_.*|PYTHON.*|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|GEM_(HOME|PATH)|BUNDLE_GEMFILE',
    'JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS|PHPRC',
    'PHP_INI_SCAN_DIR|DOTNET_STARTUP_HOOKS|COR(ECLR)?_PROFILER.*|RUSTC_.*WRAPPER|R_PROFILE.*|ERL_.*FLAGS',
    'LUA_.*|JULIA_(DEPOT|LOAD)_PATH|TCLLIBPATH|GCONV_PATH|OPENSSL_(CONF|ENGINES|MODULES)|MAKEFLAGS|MAKEFILES',
    'GIT_.*|LESSOPEN|LESSCLOSE|PAGER|EDITOR|VISUAL|VIMINIT|EXINIT|PSQLRC|SSH_ASKPASS|SUDO_ASKPASS|ONCEBOX_.*',
  ].join('|')})$`,
  'i',
)

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Returns why a variable must not hold a secret or the path of one; null if it may. */
export function variableProblem(name: string): string | null {
  if (!NAME.test(name)) return 'the name of a variable has letters, digits and _'
  return LOADS_CODE.test(name)
    ? `${name} is refused, because it makes programs load code or is read by oncebox`
    : null
}

const SOURCE_PROBLEM = 'the source must be @env:NAME, @fd:N, @request:TOKEN or a link'

/** Messages never quote the text, which may be a link. */
export function parseSource(text: string): Parsed<Source> {
  const [, kind, rest = ''] = /^@(env|fd|request):(.+)$/s.exec(text) ?? []
  if (kind === 'env') return { value: { from: 'variable', variable: rest, isRequest: false } }
  if (kind === 'fd') {
    const descriptor = /^\d{1,4}$/.test(rest) ? Number(rest) : 1
    if (descriptor === 1 || descriptor === 2)
      return hidden('@fd:N must be a descriptor for reading, such as @fd:3')
    return { value: { from: 'descriptor', descriptor, isRequest: false } }
  }
  const link = kind === 'request' ? rest : text
  const parsed = parseLinkOrToken(link)
  if (parsed === null) return hidden(SOURCE_PROBLEM)
  return { value: { from: 'text', text: link, isRequest: kind === 'request' || parsed.isRequest } }
}

/** Returns a parser of `NAME=SOURCE`. */
export function targetParser(use: 'env' | 'file') {
  return (text: string): Parsed<Target> => {
    const [name, rest] = splitAt(text)
    if (rest === null) return hidden('must be NAME=SOURCE')
    const problem = variableProblem(name)
    if (problem !== null) return hidden(problem)
    const source = parseSource(rest)
    return 'problem' in source ? source : { value: { use, name, source: source.value } }
  }
}

export type PassphraseVariable = { name: string; variable: string }

/** Parses `NAME=VARIABLE`: which variable holds the passphrase for the source of NAME. */
export function passphraseVariable(text: string): Parsed<PassphraseVariable> {
  const [name, variable] = splitAt(text)
  return variable === null || !NAME.test(variable)
    ? hidden('must be NAME=VARIABLE')
    : { value: { name, variable } }
}

function splitAt(text: string): [name: string, rest: string | null] {
  const at = text.indexOf('=')
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}

function hidden(problem: string): { problem: string; isSecret: true } {
  return { problem, isSecret: true }
}
