// `oncebox restore` and `backup verify`: a new data folder of a backup, after it has told what that means, or the proof that it
// could be made.

import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { type Decision, type RestorePlan, restoreBackup } from '../backup/restore.ts'
import type { Opening } from '../backup/sealing.ts'
import { streamPath, streamPieces } from '../backup/streams.ts'
import { verifyBackup as verify } from '../backup/verify.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { confirm, readPassphraseFile } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure, ToldFailure, UsageError } from './failures.ts'
import { STANDARD } from './paths.ts'
import { createTellProgress } from './progress.ts'
import { presentPlan, presentRestored, presentTokens, presentVerified } from './restore-report.ts'
import type { Shell } from './shell.ts'

type OpeningFlags = { identity: string[]; passphraseFile: string | null }
type RestoreFlags = OpeningFlags & { keepTokens: boolean; revokeTokens: boolean; yes: boolean }
type Verification = Given<OpeningFlags & { tempDir: string | null }, { keyFile: string | null }>

export async function verifyBackup(given: Verification): Promise<void> {
  const { flags, config, shell } = given
  const { opening, ...source } = readOpening(given, 'backup verify')
  const progress = createProgress(shell, 'cancelled')
  const tempDir = flags.tempDir === null ? tmpdir() : resolve(shell.place.cwd, flags.tempDir)
  const ports = { now: shell.now, opening, onProgress: progress.update }
  const verified = await verify({ ...source, ...config, tempDir }, ports).finally(progress.stop)
  for (const line of presentVerified(verified, source.file)) shell.print(line)
  if (verified.content.leftOut > 0) throw new ToldFailure(1)
}

export async function restore(
  given: Given<RestoreFlags, { dataDir: string; keyFile: string | null }>,
): Promise<void> {
  const { flags, config, shell } = given
  const { opening, ...source } = readOpening(given, 'restore')
  const wish = { ...source, ...config }
  const progress = createProgress(shell, 'cancelled: nothing was restored')
  const tokens = flags.keepTokens ? 'keep' : flags.revokeTokens ? 'revoke' : null
  const decide = async (plan: RestorePlan) => {
    progress.clear()
    for (const line of presentPlan(plan, wish)) shell.say(line)
    const decision = await chooseTokens(plan, { tokens, shell })
    if (shell.isTerminal && !flags.yes) await confirm(shell, 'Restore now?')
    return decision
  }
  const ports = { now: shell.now, opening, onProgress: progress.update, decide }
  const restored = await restoreBackup(wish, ports).finally(progress.stop)
  for (const line of presentRestored(restored, config)) shell.print(line)
}

type Asking = { tokens: Decision['apiTokens'] | null; shell: Shell }

async function chooseTokens({ content }: RestorePlan, { tokens, shell }: Asking): Promise<Decision> {
  if (content.apiTokens.length === 0) return { apiTokens: 'keep' }
  for (const line of presentTokens(content)) shell.say(line)
  if (tokens !== null) {
    shell.say(tokens === 'keep' ? 'They are kept.' : 'They are all revoked.')
    return { apiTokens: tokens }
  }
  const answer = (await shell.ask('Keep them, or revoke them all? [keep/revoke] ')).trim().toLowerCase()
  if (answer === 'keep' || answer === 'revoke') return { apiTokens: answer }
  throw new CommandFailure('Answer "keep" or "revoke". Nothing was restored.')
}

/** Where the backup comes from, and what opens it. Nothing of it is read yet. */
function readOpening({ operands: [operand = ''], flags, shell }: Given<OpeningFlags>, command: string) {
  const isInput = operand === STANDARD
  const file = isInput ? 'standard input' : resolve(shell.place.cwd, operand)
  const { identity, passphraseFile } = flags
  const opening: Opening = {
    identities: identity.map((given) => readIdentity(given, shell, command)),
    passphrase: passphraseFile && readPassphraseFile(passphraseFile, { shell, command }),
    askPassphrase: () => askPassphrase(shell),
  }
  const open = async () => (isInput ? streamPieces(shell.readInputBytes()) : streamPath(file))
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

/** Less time needs no progress. */
const QUIET_MS = 1_000

/** The step that counts bytes. */
const READING = 'reading'

/**
 * A bar while the bytes come, then a line now and then for the pushes. `cancelled` is told when a signal ends the command.
 */
function createProgress({ startProgress, say }: Pick<Shell, 'startProgress' | 'say'>, cancelled: string) {
  const begun = performance.now()
  let bar = startProgress('Reading', () => cancelled)
  const tell = createTellProgress({
    say: (line) => {
      clear()
      say(line)
    },
  })

  function update(step: string, done: number, total: number): void {
    const now = performance.now()
    if (step === READING) {
      if (now - begun > QUIET_MS) bar.update(done, total)
      return
    }
    tell(`${step}: ${done} of ${total} pushes`)
  }

  /** Takes the bar from the screen. Signals still end the command as told. */
  function clear(): void {
    bar.stop()
    bar = startProgress('', () => cancelled)
  }

  return { update, clear, stop: () => bar.stop() }
}
