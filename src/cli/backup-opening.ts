// The common part of commands that read a backup: where it comes from, and what opens it.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Opening } from '../backup/restoring/opening.ts'
import { refusalOf } from '../domain/system-errors.ts'
import type { App } from './app.ts'
import { passphraseFileProblems, readPassphraseFile } from './ask.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addTextFlag, textFlag, textFlags } from './flags.ts'
import type { Shell } from './shell.ts'

export const STANDARD_INPUT = '-'

export function addOpeningFlags(command: Command): void {
  addTextFlag(
    command,
    '--identity <file>',
    'File with the secret key of age that opens the backup; may be repeated',
  )
  addTextFlag(
    command,
    '--passphrase-file <file>',
    'File with the passphrase of the backup; without it the passphrase is asked',
  )
}

/** Problems with the values of both flags, found before anything is read. */
export function openingProblems(command: Command): string[] {
  const empty = textFlags(command, 'identity').includes('')
  return [
    ...(empty ? ['--identity: a value is missing, it must be a path'] : []),
    ...passphraseFileProblems(command),
  ]
}

type Reading = { shell: Shell; app: Pick<App, 'openBackupFile' | 'streamPieces'>; name: string }

/** `file` names the backup in messages. Nothing of it is read yet. */
export function readOpening(command: Command, operand: string, { shell, app, name }: Reading) {
  const isInput = operand === STANDARD_INPUT
  const file = isInput ? 'standard input' : resolve(shell.place.cwd, operand)
  const path = textFlag(command, 'passphrase-file')
  const opening: Opening = {
    identities: textFlags(command, 'identity').map((given) => readIdentity(given, shell, name)),
    passphrase: path === undefined ? null : readPassphraseFile(path, { shell, command: name }),
    askPassphrase: () => askPassphrase(shell),
  }
  const open = async () => (isInput ? app.streamPieces(shell.readInputBytes()) : app.openBackupFile(file))
  return { file, open, opening }
}

function readIdentity(path: string, { readFile }: Shell, name: string): Opening['identities'][number] {
  try {
    return { path, text: readFile(path) }
  } catch (cause) {
    const why = refusalOf(cause)
    throw new UsageError([`--identity ${JSON.stringify(path)}: cannot be read: ${why}`], `oncebox ${name}`)
  }
}

function askPassphrase(shell: Shell): Promise<string> {
  if (!shell.isTerminal)
    throw new CommandFailure(
      'There is no terminal to ask for the passphrase of the backup: name a file with --passphrase-file.',
    )
  return shell.askHidden('Passphrase of the backup')
}
