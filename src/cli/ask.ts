// Questions at the terminal: secrets, new ones twice, and confirmations.

import { passwordProblem } from '../domain/account.ts'
import { MAX_PASSPHRASE_BYTES } from '../domain/new-push.ts'
import { explainProblem } from '../domain/problems.ts'
import { CommandFailure } from './failures.ts'
import type { Shell } from './shell.ts'

type Secret = {
  what: string
  question: string
  /** The remedy if there is no terminal, in one sentence. */
  remedy: string
}

/** Asks for a secret without echoing it. Throws CommandFailure without a terminal. */
export function askSecret(shell: Shell, { what, question, remedy }: Secret): Promise<string> {
  if (!shell.isTerminal) throw new CommandFailure(`There is no terminal to ask for the ${what}: ${remedy}.`)
  return shell.askHidden(question)
}

/** Reads all of standard input as text. Resolves to null when it is not UTF-8. */
export async function readInput({ readInputBytes }: Shell): Promise<string | null> {
  const bytes = Buffer.concat(await Array.fromAsync(readInputBytes()))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Reads a new password from standard input, or asks for it twice. */
export async function readNewPassword(shell: Shell, options: { fromInput: boolean }): Promise<string> {
  const secret = { what: 'password', question: 'Password', remedy: 'pipe it in with --password-stdin' }
  const check = (password: string) => {
    const problem = passwordProblem(password)
    if (problem !== null) throw new CommandFailure(`The password ${explainProblem(problem)}.`)
    return password
  }
  if (!options.fromInput) return askTwice(shell, secret, check)
  return check(((await readInput(shell)) ?? '').replace(/\r?\n$/, ''))
}

/** Asks for a new passphrase twice. */
export function readNewPassphrase(shell: Shell, question = 'Passphrase for the recipient'): Promise<string> {
  const secret = { what: 'passphrase', question, remedy: 'name a file with --passphrase-file' }
  return askTwice(shell, secret, (passphrase) => {
    if (passphrase === '') throw new CommandFailure("The passphrase can't be blank.")
    if (Buffer.byteLength(passphrase) <= MAX_PASSPHRASE_BYTES) return passphrase
    throw new CommandFailure(`The passphrase may have at most ${MAX_PASSPHRASE_BYTES} bytes.`)
  })
}

async function askTwice(shell: Shell, secret: Secret, check: (text: string) => string): Promise<string> {
  const text = check(await askSecret(shell, secret))
  if ((await shell.askHidden('Again')) !== text) throw new CommandFailure(`The two ${secret.what}s differ.`)
  return text
}

/** Asks for confirmation. Throws CommandFailure unless the answer is yes. */
export async function confirm(shell: Shell, question: string): Promise<void> {
  if (!shell.isTerminal) throw new CommandFailure('There is no terminal to ask for confirmation: add --yes.')
  if (!(await isAgreed(shell, question))) throw new CommandFailure('Nothing was changed.')
}

/** Asks a yes-or-no question. An empty line means no. */
export async function isAgreed(shell: Shell, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await shell.ask(`${question} [y/N] `)).trim())
}

/** Returns a problem unless --yes is given, if the command needs consent and there is no terminal to ask. */
export function consentProblem({ flags, shell }: { flags: { yes: boolean }; shell: Shell }): string | false {
  return !flags.yes && !shell.isTerminal && 'without a terminal to ask, --yes is needed'
}
