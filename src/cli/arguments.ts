// The words of a command line that are no flags, and what is wrong with them. Commander is told to accept every word, so that
// all problems can be reported at once.

import type { Command as Parsed } from 'commander'
import { parsePushAddress } from '../client/link.ts'
import { parseEmail } from '../domain/account.ts'
import { nearestWord } from '../domain/nearest-word.ts'
import { serverUrl, type Parsed as Value } from '../settings/parsers.ts'
import type { Command } from './command.ts'

/** The names of a command's arguments, and how many of them are needed. */
function operandsOf({ operands = '' }: Command): { names: string[]; needed: number } {
  const words = operands.split(' ').filter(Boolean)
  return {
    names: words.map((word) => word.replace(/^\[(.*)\]$/, '$1')),
    needed: words.filter((word) => !word.startsWith('[')).length,
  }
}

/** Whether `serve` runs because no command was named. */
export function isBare(parsed: Parsed): boolean {
  return parsed.name() === 'serve' && parsed.parent?.args[0] !== 'serve'
}

type Words = { words: string[]; problems: string[] }

/** Splits the words that commander did not parse into the command's arguments and problems. */
function readWords(row: Command, parsed: Parsed): Words {
  const { names, needed } = operandsOf(row)
  const isFlag = (text = '') => text.startsWith('-') && text.length > 1
  const { before: args, literal } = splitLiteral(parsed)
  const flags = args.filter((text) => isFlag(text))
  // Skip the word after an unknown flag, which is most likely its value.
  const plain = args.filter((text, index) => {
    const before = args[index - 1]
    return !isFlag(text) && !(isFlag(before) && !before?.includes('='))
  })
  const words = [...plain, ...literal]
  const missing = flags.length > 0 ? [] : names.slice(words.length, needed)
  const problems = [
    ...strayFlags(parsed).map((flag) => unknownFlag(flag, parsed)),
    // Do not repeat the flag's value, which may be a secret.
    ...flags.map((text) => unknownFlag(text.split('=')[0] ?? '', parsed)),
    ...words.slice(names.length).map((word) => explainWord(parsed, word)),
    ...missing.map((name) => `${name.replace(/\|.*/, '')} is missing`),
  ]
  return { words: words.slice(0, names.length), problems }
}

function unknownFlag(flag: string, { options }: Parsed): string {
  const known = [...options.flatMap(({ long }) => long ?? []), '--help']
  if (known.includes(flag)) return `${flag} takes no value`
  return `unknown flag ${flag}${didYouMean(flag, known)}`
}

/** Flags of the group that this command belongs to. Commander accepts them in any position. */
function strayFlags({ parent, options }: Parsed): string[] {
  const isOwn = (long: string) => options.some((option) => option.long === long)
  const given = parent?.options.filter(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  )
  return given?.flatMap(({ long }) => (long === undefined || isOwn(long) ? [] : [long])) ?? []
}

/** Words after `--` are never flags. Commander does not keep the position of `--`. */
function splitLiteral(parsed: Parsed): { before: string[]; literal: string[] } {
  const argv = rootOf(parsed).rawArgs
  const at = argv.indexOf('--')
  const literal = at === -1 ? [] : argv.slice(at + 1)
  const before = parsed.args.filter((text) => text !== '--')
  for (const text of literal) before.splice(before.lastIndexOf(text), 1)
  return { before, literal }
}

function rootOf(parsed: Parsed): Parsed & { rawArgs: string[] } {
  const root = parsed.parent === null ? parsed : rootOf(parsed.parent)
  return root as Parsed & { rawArgs: string[] }
}

/** Bare `oncebox` serves, so a misspelled or misplaced command arrives as an argument of `serve`. */
function explainWord(parsed: Parsed, word: string): string {
  const commands = parsed.parent?.commands.map((known) => known.name()) ?? []
  const unexpected = `unexpected argument ${JSON.stringify(word)}`
  if (parsed.name() !== 'serve') return unexpected
  if (commands.includes(word)) return `the command ${word} comes before all flags`
  if (parsed.parent?.args[0] !== word) return unexpected
  // A secret link must not be repeated on the screen.
  if ((parsePushAddress(word)?.server ?? null) !== null)
    return 'a link comes after a command: oncebox get LINK'
  const near = didYouMean(word, commands)
  return `unknown command ${JSON.stringify(word)}${near || ` (there are ${commands.join(', ')})`}`
}

/** What an argument of a name must be. Others may be anything. */
const OPERANDS: Record<string, (text: string) => Value<string>> = {
  EMAIL: (text) => {
    const value = parseEmail(text)
    return value === null ? { problem: 'must be an address such as ann@example.org' } : { value }
  },
  URL: serverUrl,
  'LINK-OR-TOKEN': (text) =>
    parsePushAddress(text) === null
      ? { problem: 'must be a link such as https://once.example/p/7k3m9q…, or its token', isSecret: true }
      : { value: text },
}

/** The arguments of a command in the form that it takes them, and all problems with them. */
export function readArguments(row: Command, parsed: Parsed) {
  const { words, problems } = readWords(row, parsed)
  const { names } = operandsOf(row)
  const read = words.map((text, index) => {
    const name = names[index] ?? ''
    const value = OPERANDS[name]?.(text) ?? { value: text }
    const shown = 'isSecret' in value ? '' : ` ${JSON.stringify(text)}`
    return 'problem' in value ? { problem: `${name}${shown}: ${value.problem}` } : value
  })
  return {
    operands: read.flatMap((one) => ('value' in one ? [one.value] : [])),
    isWordWrong: problems.length > 0,
    problems: [...problems, ...read.flatMap((one) => ('problem' in one ? [one.problem] : []))],
  }
}

/** Our commands, and the words that other programs use for them. */
const SYNONYMS: Record<string, string> = {
  push: 'create send share new upload put paste',
  get: 'receive read fetch open download show retrieve cat',
  expire: 'delete remove rm burn revoke destroy',
  list: 'ls pushes show all',
  audit: 'log logs history events',
  serve: 'start run server up daemon',
  config: 'settings configuration env',
  login: 'signin auth connect',
  logout: 'signout',
  logins: 'profiles whoami servers',
  user: 'users account accounts',
  token: 'tokens apikey',
  add: 'create new make',
  create: 'add new make',
  remove: 'delete rm del',
  revoke: 'delete remove rm',
  password: 'passwd reset',
  selftest: 'test check',
}

/** `: did you mean push?`, or `''` when no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known) ?? known.find((candidate) => isSynonym(word, candidate))
  return near === undefined ? '' : `: did you mean ${near}?`
}

function isSynonym(word: string, known: string): boolean {
  const words = Object.hasOwn(SYNONYMS, known) ? (SYNONYMS[known] ?? '') : ''
  return words.split(' ').includes(word.toLowerCase())
}
