// The flags of `oncebox push` as fields of the API, and the flags' names in the server's messages.

import { accessSync, constants, statSync } from 'node:fs'
import type { Command } from 'commander'
import type { PushFields } from '../client/client.ts'
import { ClientFailure, RefusedFields } from '../client/failure.ts'
import { DURATIONS, MAX_DAYS, MAX_VIEWS } from '../domain/new-push.ts'
import { PUSH_KINDS } from '../domain/push.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { DAY } from '../domain/time.ts'
import { duration, truth, wholeNumber } from '../settings/parsers.ts'
import { passphraseFileProblems } from './ask.ts'
import { lacksValue, textFlag, textFlags } from './flags.ts'

/** Stands for standard input in place of a path. */
export const STANDARD_INPUT = '-'

export const DURATION_NAMES = DURATIONS.map((ms) =>
  ms >= DAY ? `${ms / DAY}d` : ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`,
)

type Reading = {
  /** Flags whose empty value is sent. */
  mayBeEmpty?: readonly string[]
}

/** The flags as fields of the API, and the problems with them. */
export function readFields(
  command: Command,
  { mayBeEmpty = [] }: Reading = {},
): { fields: PushFields; problems: string[] } {
  const problems: string[] = []
  const read = <T>(
    name: string,
    parse: (text: string) => { value: T } | { problem: string },
  ): T | undefined => {
    const text = textFlag(command, name)
    if (text === undefined) return undefined
    const parsed = parse(text)
    if ('value' in parsed) return parsed.value
    problems.push(
      text === ''
        ? `--${name}: a value is missing, it ${parsed.problem}`
        : `--${name} ${JSON.stringify(text)}: ${parsed.problem}`,
    )
    return undefined
  }
  const text = (value: string) => (value === '' ? { problem: "can't be blank" } : { value })
  const removable = (name: string) => (value: string) =>
    lacksValue(command, name) ? { problem: `may be "", which removes the ${name}` } : { value }
  const label = (name: string) => read(name, mayBeEmpty.includes(name) ? removable(name) : text)
  const yes = (value: string) => truth(value === '' ? 'true' : value)
  const fields = {
    kind: read('kind', parseKind),
    expire_after_days: read('days', wholeNumber('1', String(MAX_DAYS))),
    expire_after_views: read('views', wholeNumber('1', String(MAX_VIEWS))),
    expire_after_duration: read('duration', parseDuration),
    retrieval_step: read('retrieval-step', yes),
    deletable_by_viewer: read('deletable-by-viewer', yes),
    name: label('name'),
    note: label('note'),
  }
  return { fields, problems: [...problems, ...passphraseFileProblems(command), ...inputProblems(command)] }
}

function parseKind(text: string) {
  return PUSH_KINDS.some((kind) => kind === text)
    ? { value: text }
    : { problem: `must be one of ${PUSH_KINDS.join(', ')}` }
}

/** The API's index of a duration. */
function parseDuration(text: string) {
  const parsed = duration('1m', '3650d')(text)
  const value = 'value' in parsed ? DURATIONS.indexOf(parsed.value) : -1
  return value === -1 ? { problem: `must be one of ${DURATION_NAMES.join(', ')}` } : { value }
}

function inputProblems(command: Command): string[] {
  const paths = textFlags(command, 'file')
  const fromInput = paths.filter((path) => path === STANDARD_INPUT)
  const problems = paths.flatMap((path) => (path === STANDARD_INPUT ? [] : fileProblems(path)))
  if (fromInput.length > 1 || (fromInput.length > 0 && command.args[0] === STANDARD_INPUT)) {
    problems.push('--file -: standard input can be read only once')
  }
  if (fromInput.length > 0 && textFlag(command, 'name') === undefined) {
    problems.push('--file -: add --name, which also names the file')
  }
  return problems
}

function fileProblems(path: string): string[] {
  const problem = (text: string) => [`--file ${JSON.stringify(path)}: ${text}`]
  if (path === '') return ['--file: a value is missing, it must be a path']
  try {
    const found = statSync(path)
    if (found.isDirectory()) return problem('is a folder; pack it into one file first')
    if (!found.isFile()) return problem('is not a regular file; pipe it in with --file -')
    accessSync(path, constants.R_OK)
    return []
  } catch (cause) {
    return problem(`cannot be read: ${refusalOf(cause)}`)
  }
}

/** The name of each field on the command line. */
const FLAGS: Record<string, string> = {
  payload: 'The text',
  kind: '--kind',
  expire_after_days: '--days',
  expire_after_views: '--views',
  expire_after_duration: '--duration',
  passphrase: 'The passphrase',
  retrieval_step: '--retrieval-step',
  deletable_by_viewer: '--deletable-by-viewer',
  name: '--name',
  note: '--note',
  files: '--file',
}

/** The same failure, with the names of flags instead of fields. */
export function nameFlags(cause: unknown): unknown {
  if (!(cause instanceof RefusedFields)) return cause
  const entries = Object.entries(cause.fields)
  if (!entries.every(([field]) => Object.hasOwn(FLAGS, field))) return cause
  const sentences = entries.flatMap(([field, problems]) => problems.map((said) => `${FLAGS[field]} ${said}`))
  return new ClientFailure(cause.kind, `${sentences.join('. ')}.`)
}
