// Questions at the terminal: a new password or passphrase, and confirmations.

import { passwordProblem } from '../domain/account.ts'
import { MAX_PASSPHRASE_BYTES } from '../domain/new-push.ts'
import { explainProblem } from '../domain/problems.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { CommandFailure, UsageError } from './failures.ts'
import type { Shell } from './shell.ts'

/** Reads it from standard input, or asks twice without echoing it. */
export async function readNewPassword(shell: Shell, options: { fromInput: boolean }): Promise<string> {
  const password = options.fromInput
    ? (await shell.readInput()).replace(/\r?\n$/, '')
    : await askForPassword(shell)
  const problem = passwordProblem(password)
  if (problem !== null) throw new CommandFailure(`The password ${explainProblem(problem)}.`)
  return password
}

function askForPassword(shell: Shell): Promise<string> {
  return askTwice(shell, {
    ...{ what: 'password', question: 'Password', remedy: 'pipe it in with --password-stdin' },
    problemOf: (password) => {
      const problem = passwordProblem(password)
      return problem && `The password ${explainProblem(problem)}.`
    },
  })
}

/** Asks twice without echoing it. */
export function readNewPassphrase(shell: Shell, question = 'Passphrase for the recipient'): Promise<string> {
  return askTwice(shell, {
    ...{ what: 'passphrase', question, remedy: 'name a file with --passphrase-file' },
    problemOf: (passphrase) => {
      if (passphrase === '') return "The passphrase can't be blank."
      return Buffer.byteLength(passphrase) > MAX_PASSPHRASE_BYTES
        ? `The passphrase may have at most ${MAX_PASSPHRASE_BYTES} bytes.`
        : null
    },
  })
}

type Asked = {
  what: string
  question: string
  /** What to do without a terminal. */
  remedy: string
  problemOf: (text: string) => string | null
}

async function askTwice(shell: Shell, { what, question, remedy, problemOf }: Asked): Promise<string> {
  if (!shell.isTerminal) throw new CommandFailure(`There is no terminal to ask for the ${what}: ${remedy}.`)
  const text = await shell.askHidden(question)
  const problem = problemOf(text)
  if (problem !== null) throw new CommandFailure(problem)
  if ((await shell.askHidden('Again')) !== text) throw new CommandFailure(`The two ${what}s differ.`)
  return text
}

/** The file's content without a final line break. Throws UsageError, naming the flag, if it is unreadable or empty. */
export function readPassphraseFile(
  path: string,
  { shell, command }: { shell: Shell; command: string },
): string {
  const refuse = (problem: string) =>
    new UsageError([`--passphrase-file ${JSON.stringify(path)}: ${problem}`], `oncebox ${command}`)
  let text: string
  try {
    text = shell.readFile(path).replace(/\r?\n$/, '')
  } catch (cause) {
    throw refuse(`cannot be read: ${refusalOf(cause)}`)
  }
  if (text === '') throw refuse('is empty')
  return text
}

/** Throws unless the person agrees. */
export async function confirm(shell: Shell, question: string): Promise<void> {
  if (!shell.isTerminal) throw new CommandFailure('There is no terminal to ask whether to go on: add --yes.')
  const answer = await shell.ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was changed.')
}
