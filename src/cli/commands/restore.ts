// `oncebox restore` shows the plan, then restores a backup into a new folder; `backup verify` only checks
// that it could.

import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { Decision, RestorePlan } from '../../backup/restore.ts'
import type { BackupCredentials } from '../../backup/sealing.ts'
import type { RestoringPorts } from '../../backup/verify.ts'
import type { Values } from '../../settings/setting.ts'
import { askSecret, confirm } from '../ask.ts'
import { type CommandInput, command, repeated, some, toggle, valued } from '../command.ts'
import { CommandFailure, ReportedFailure } from '../failures.ts'
import { formatSize } from '../format.ts'
import { anyPath, fileText, namedText, STANDARD } from '../paths.ts'
import { createTellProgress } from '../progress.ts'
import { presentPlan, presentRestored, presentTokens, presentVerified } from '../restore-report.ts'
import type { Shell } from '../shell.ts'

const openingFlags = {
  identity: repeated('identity <file>', namedText),
  passphraseFile: valued('passphrase-file <file>', fileText),
}

const VERIFY = command({
  name: 'backup verify',
  operands: 'FILE|-',
  flags: {
    ...openingFlags,
    tempDir: valued('temp-dir <folder>', anyPath),
  },
  settings: some('keyFile'),
  act: async (given) => {
    const { flags, config, shell } = given
    const { verifyBackup } = await import('../../backup/verify.ts')
    const source = await sourceOf(given)
    const tempDir = resolve(shell.os.cwd, flags.tempDir ?? tmpdir())
    const verified = await withProgress(given, 'cancelled', (ports) =>
      verifyBackup({ ...source, ...config, tempDir }, ports),
    )
    shell.print(...presentVerified(verified, source.file))
    if (verified.content.leftOut > 0) throw new ReportedFailure(1)
  },
})

const RESTORE = command({
  name: 'restore',
  operands: 'FILE|-',
  flags: {
    keepTokens: toggle('keep-tokens'),
    revokeTokens: toggle('revoke-tokens'),
    yes: toggle('yes'),
    ...openingFlags,
  },
  oneOf: [['keepTokens', 'revokeTokens']],
  settings: some('dataDir', 'keyFile'),
  isOnData: true,
  onlyFolder: {
    does: '"oncebox restore" makes a data folder of a backup',
    instead:
      'Restore PostgreSQL with its own tools (docs/beyond-one-machine.md), and then run "oncebox expire-all". A backup ' +
      'of a data folder can only be restored into a folder.',
  },
  problems: ({ flags, shell }) => [
    !(flags.keepTokens || flags.revokeTokens || shell.isTerminal) &&
      'without a terminal, --keep-tokens or --revoke-tokens is needed: the backup may contain tokens that were revoked since',
  ],
  act: async (given) => {
    const { flags, config, shell } = given
    const { restoreBackup } = await import('../../backup/restore.ts')
    const wish = { ...(await sourceOf(given)), ...config }
    const decide = async (plan: RestorePlan) => {
      shell.say(...presentPlan(plan, wish))
      const chosen = flags.keepTokens ? 'keep' : flags.revokeTokens ? 'revoke' : null
      const apiTokens = await chooseTokens(plan, chosen, shell)
      if (shell.isTerminal && !flags.yes) await confirm(shell, 'Restore now?')
      return { apiTokens }
    }
    const restored = await withProgress(given, 'cancelled: nothing was restored', (ports) =>
      restoreBackup(wish, { ...ports, decide }),
    )
    shell.print(...presentRestored(restored, config))
  },
})

export const RESTORES = [VERIFY, RESTORE]

type Tokens = Decision['apiTokens']

async function chooseTokens({ content }: RestorePlan, chosen: Tokens | null, shell: Shell): Promise<Tokens> {
  // Webhooks are revoked together with tokens.
  if (content.apiTokens.length === 0) return chosen ?? 'keep'
  shell.say(...presentTokens(content))
  if (chosen !== null) {
    shell.say(chosen === 'keep' ? 'They are kept.' : 'They are all revoked.')
    return chosen
  }
  const answer = (await shell.ask('Keep them, or revoke them all? [keep/revoke] ')).trim().toLowerCase()
  if (answer === 'keep' || answer === 'revoke') return answer
  throw new CommandFailure('Answer "keep" or "revoke". Nothing was restored.')
}

type BackupInput = CommandInput<Values<typeof openingFlags>>

/** Returns the source of the backup, without reading it. */
async function sourceOf({ operands: [operand = ''], shell }: BackupInput) {
  const { readPath } = await import('../../backup/streams.ts')
  if (operand === STANDARD) return { file: 'standard input', open: async () => shell.readInputBytes() }
  const file = resolve(shell.os.cwd, operand)
  return { file, open: () => readPath(file) }
}

/** Runs `work` with progress messages. `cancelled` is the message when a signal ends the command. */
async function withProgress<T>(
  { flags, shell }: BackupInput,
  cancelled: string,
  work: (ports: RestoringPorts) => Promise<T>,
): Promise<T> {
  const tell = createTellProgress(shell)
  const credentials: BackupCredentials = {
    identities: flags.identity,
    passphrase: flags.passphraseFile,
    askPassphrase: () =>
      askSecret(shell, {
        what: 'passphrase of the backup',
        question: 'Passphrase of the backup',
        remedy: 'name a file with --passphrase-file',
      }),
  }
  const onProgress = (step: string, done: number, total: number) =>
    tell(
      step === 'reading'
        ? `reading: ${formatSize(done)} of ${formatSize(total)}`
        : `${step}: ${done} of ${total} pushes`,
    )
  const { stop } = shell.startProgress('', () => cancelled)
  return await work({ now: shell.now, credentials, onProgress }).finally(stop)
}
