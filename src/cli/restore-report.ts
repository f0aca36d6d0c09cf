// Texts about a backup: its content, the effects of a restore, and what to do afterwards.

import type { RestorePlan, RestoreReport } from '../backup/restore.ts'
import type { VerifiedBackup } from '../backup/verify.ts'
import { formatTime } from '../domain/time.ts'
import { printableLine } from '../text/printable.ts'
import { formatCount, formatLocalTime, formatSize, shellWord } from './format.ts'
import { alignColumns } from './table.ts'

type Content = VerifiedBackup['content']

const SEALS = { none: 'no', passphrase: 'with a passphrase', recipients: 'for a key' } as const

export function presentVerified(verified: VerifiedBackup, file: string): string[] {
  const { content } = verified
  const but = content.leftOut === 0 ? '' : ', but parts of it are damaged'
  return [
    `${file} can be restored${but}.`,
    ...indented(
      ...factsOf(verified),
      ['instance key', keyOf(verified)],
      ['opens', 'no push, not even with its link and the instance key'],
      ['a restore loses', `${losses(content)}, sessions and one-time links`],
    ),
    ...presentDamage(content),
  ]
}

function factsOf({ manifest, schema, seal, content, hasAuthority }: VerifiedBackup): string[][] {
  const { madeAt, version, members } = manifest
  const bytes = members.reduce((sum, member) => sum + member.bytes, 0)
  return [
    ['made', `${formatLocalTime(madeAt)} (${madeAt}) by Oncebox ${version}, schema ${schema}`],
    ['encrypted', SEALS[seal]],
    ['accounts', `${content.accounts} with ${formatCount(content.apiTokens.length, 'API token')}`],
    ['pushes', `${content.pushes} with ${formatCount(content.entries, 'entry', 'entries')} in their logs`],
    ['size', formatSize(bytes)],
    ...(hasAuthority ? [['authority', 'the key of its own TLS authority']] : []),
  ]
}

function keyOf({ hasKey, hasKeyFile }: VerifiedBackup): string {
  if (hasKey) return hasKeyFile ? 'in it, and the key file fits too' : 'in it, and fits'
  return hasKeyFile ? 'not in it; the key file fits' : 'not in it: a restore needs the key file (--key-file)'
}

function losses({ active }: Content): string {
  return `${formatCount(active, 'push', 'pushes')} that can still be opened`
}

function presentDamage({ leftOut }: Content): string[] {
  if (leftOut === 0) return []
  return [`Damaged, and not restored: ${formatCount(leftOut, 'row')}. A restore brings back everything else.`]
}

/** Describes the restore, before it begins. */
export function presentPlan(
  plan: RestorePlan,
  wish: { file: string; dataDir: string; keyFile: string | null },
): string[] {
  const { content, now, lastUsed, isClockBehind } = plan
  return [
    `This restores ${wish.file} into ${wish.dataDir}:`,
    ...indented(...factsOf(plan), ['instance key', wish.keyFile ?? 'in the backup']),
    ...presentDamage(content),
    `It is ${formatTime(now)} on this machine. Everything returns to the state when the backup was made:`,
    '  - Accounts, passwords, second factors and administrators that were changed, disabled or removed since return as they were.',
    `  - ${losses(content)}: they come back as expired, "lost in a restore". Their content is in no backup; senders can share it again.`,
    '  - No link is in a backup: each push of an account gets a new one, and its old link stops working.',
    '  - Pushes, logs and changes made since the backup are not in it.',
    '  - Sessions, one-time links, files and the keys of repeated requests do not come back: people sign in again.',
    '  - A passkey, even one removed since, signs in alone only once it was used beside the password.',
    ...(isClockBehind
      ? [
          `The clock of this machine is behind: the server was in use at ${formatTime(lastUsed)}. Set it right before the ` +
            'first start, or accept its time then with --accept-clock.',
        ]
      : []),
  ]
}

/** Lists the tokens that would work again, including those that were revoked after the backup. */
export function presentTokens({ apiTokens }: Content): string[] {
  const rows = apiTokens.map(({ name, email, prefix, lastUsedAt }) => [
    printableLine(name),
    printableLine(email),
    prefix === '' ? '(imported)' : printableLine(prefix),
    lastUsedAt === null ? 'never' : formatTime(lastUsedAt),
  ])
  return [
    `The backup holds ${formatCount(apiTokens.length, 'API token')}. Those that were revoked since it was made would work again:`,
    ...indented(['NAME', 'ACCOUNT', 'PREFIX', 'LAST USED'], ...rows),
  ]
}

export function presentRestored(
  restored: RestoreReport,
  wish: { dataDir: string; keyFile: string | null },
): string[] {
  const { content, lost, apiTokens, settings } = restored
  const { accounts, pushes, apiTokens: tokens } = content
  const flags = [
    `--data-dir ${shellWord(wish.dataDir)}`,
    ...(wish.keyFile === null ? [] : [`--key-file ${shellWord(wish.keyFile)}`]),
  ]
  const fate = tokens.length === 0 ? '' : ` Its API tokens are ${apiTokens === 'keep' ? 'kept' : 'revoked'}.`
  return [
    `Restored ${wish.dataDir}: ${formatCount(accounts, 'account')}, ${formatCount(pushes, 'push', 'pushes')}, ${lost} of them expired by this.${fate}`,
    'Start it with:',
    `  oncebox serve ${flags.join(' ')}`,
    ...(settings.length === 0
      ? ['All other settings were at their defaults when the backup was made.']
      : [
          'When the backup was made, these settings differed from the defaults:',
          ...settings.map(
            ({ flag, value }) =>
              `  --${flag} ${value === null ? '(a secret, which is in no backup)' : shellWord(printableLine(value))}`,
          ),
        ]),
  ]
}

function indented(...rows: string[][]): string[] {
  return alignColumns(...rows).map((line) => `  ${line}`)
}
