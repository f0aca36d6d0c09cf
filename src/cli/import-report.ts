// The reports of an import, line by line: what came, what did not, and what to do now.

import type { Imported } from '../app/import-command.ts'
import { formatCount, formatSize } from './format.ts'

type Brought = Extract<Imported, { mode: 'import' | 'dry-run' }>
type Verified = Extract<Imported, { mode: 'verify' }>
type Finding = Brought['report']['failures'][number]

export function presentImport({ mode, report, source }: Brought): string[] {
  const isDry = mode === 'dry-run'
  const { accounts, pushes, files, apiTokens, secondFactors, notes, failures } = report
  const disabled = accounts.disabled > 0 ? ` (${accounts.disabled} disabled)` : ''
  return [
    `${isDry ? 'Would import' : 'Imported'} from Password Pusher (tables of version ${source.version}):`,
    `  ${formatCount(accounts.came, 'account')}${disabled}, ${formatCount(apiTokens, 'API token')}, ${formatCount(secondFactors, 'second factor')}`,
    `  ${pushes.live} active ${pushes.live === 1 ? 'push' : 'pushes'} with ${formatCount(files.count, 'file')} (${formatSize(files.bytes)}), ${pushes.expired} expired`,
    ...(accounts.known + pushes.known > 0
      ? [`  already known here: ${formatCount(accounts.known, 'account')}, ${pushes.known} pushes`]
      : []),
    ...listed(isDry ? 'Would come otherwise than it was' : 'Came otherwise than it was', notes),
    ...listed(isDry ? 'Would not come' : 'Did not come', failures),
    ...adviceOf({ report, source }),
  ]
}

function adviceOf({ report, source }: Pick<Brought, 'report' | 'source'>): string[] {
  const advice: string[] = []
  if (report.secondFactors > 0)
    advice.push(
      'Recovery codes cannot move: people with a second factor make new ones by setting it up again on their account page.',
    )
  if (source.isDefaultKey)
    advice.push(
      'The old server used the key that Password Pusher publishes: who ever had its database could read every secret. ' +
        'Change the passwords that were shared there.',
    )
  return advice
}

export function presentVerification(report: Verified['report']): string[] {
  const { accounts, live, expired, gone, failures, differences } = report
  const removed = gone > 0 ? `, ${gone} gone since` : ''
  return [
    `Compared ${formatCount(accounts, 'account')}, ${live} active and ${expired} expired pushes${removed}.`,
    ...listed('Cannot be read in the source', failures),
    ...listed('Different', differences),
    ...(differences.length === 0 ? ['Everything that could be compared is the same.'] : []),
  ]
}

function listed(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  return [`${title} (${findings.length}):`, ...findings.map(({ place, what }) => `  ${place}: ${what}`)]
}
