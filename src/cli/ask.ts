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

async function askForPassword(shell: Shell): Promise<string> {
  if (!shell.isTerminal) {
    throw new CommandFailure(
      'There is no terminal to ask for the password: pipe it in with --password-stdin.',
    )
  }
  const password = await shell.askHidden('Password')
  const problem = passwordProblem(password)
  if (problem !== null) throw new CommandFailure(`The password ${explainProblem(problem)}.`)
  if ((await shell.askHidden('Again')) !== password) throw new CommandFailure('The two passwords differ.')
  return password
}

/** Asks twice without echoing it. */
export async function readNewPassphrase(
  shell: Shell,
  question = 'Passphrase for the recipient',
): Promise<string> {
  if (!shell.isTerminal) {
    throw new CommandFailure(
      'There is no terminal to ask for the passphrase: name a file with --passphrase-file.',
    )
  }
  const passphrase = await shell.askHidden(question)
  if (passphrase === '') throw new CommandFailure("The passphrase can't be blank.")
  if (Buffer.byteLength(passphrase) > MAX_PASSPHRASE_BYTES) {
    throw new CommandFailure(`The passphrase may have at most ${MAX_PASSPHRASE_BYTES} bytes.`)
  }
  if ((await shell.askHidden('Again')) !== passphrase) throw new CommandFailure('The two passphrases differ.')
  return passphrase
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
