// The lines of --audit-log: the closed list of actions, and the members of a line, named by the Elastic
// Common Schema. A line never has a link, secret, name, note or passphrase.

import { formatTime } from '../domain/time.ts'
import type { openLogFile } from './log-file.ts'
import type { Gauged } from './metrics.ts'

/** Every action, in the order of docs/audit-log.md. */
export const AUDIT_ACTIONS = [
  'server-start',
  'server-stop',
  'sign-in',
  'sign-in-code',
  'session-end',
  'confirm-password',
  'confirm-code',
  'confirm-provider',
  'confirm-passkey',
  'password-change',
  'password-reset-request',
  'password-reset',
  'link-use',
  'account-create',
  'account-disable',
  'account-enable',
  'account-promote',
  'account-demote',
  'account-remove',
  'account-service',
  'provider-link',
  'provider-unlink',
  'setup-link-create',
  'invitation-create',
  'invitation-remove',
  'reset-link-create',
  'second-factor-on',
  'second-factor-off',
  'passkey-add',
  'passkey-remove',
  'token-create',
  'token-revoke',
  'token-use',
  'age-key-change',
  'webhook-create',
  'webhook-change',
  'webhook-remove',
  'webhook-test',
  'push-create',
  'push-open',
  'push-edit',
  'push-mail',
  'push-unlock',
  'push-expire',
  'request-create',
  'request-open',
  'request-answer',
  'request-close',
  'backup-request',
  'backup-make',
  'appearance-change',
  'clock-accept',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** The content of a line. Members that are null or missing are left out. */
export type AuditLine = {
  /** Milliseconds since 1970. */
  at: number
  action: AuditAction
  outcome: 'success' | 'failure' | 'unknown'
  /** A fixed word: why it failed, or which of several ways was used. */
  reason?: string | null | undefined
  /** The e-mail address of the account that acts. */
  user?: string | null | undefined
  /** The e-mail address of the account that is acted on. */
  target?: string | null | undefined
  ip?: string | null | undefined
  /** Further members by name. */
  more?: Readonly<Record<string, unknown>> | undefined
}

const VERSIONS = { 'ecs.version': '8.17.0', 'event.kind': 'event', 'event.dataset': 'oncebox.audit' } as const

/** Returns a line of JSON, without its newline. */
export function presentAuditLine(line: AuditLine): string {
  const { at, action, outcome, reason, user, target, ip, more } = line
  const members = {
    '@timestamp': formatTime(at),
    ...VERSIONS,
    'event.action': action,
    'event.outcome': outcome,
    'event.reason': reason,
    'user.name': user,
    'user.target.name': target,
    'source.ip': ip,
    ...more,
  }
  return JSON.stringify(Object.fromEntries(Object.entries(members).filter(([, value]) => value != null)))
}

/** Returns the counter of the lines that could not be written to the file. */
export function createAuditGauge({ countLost }: Pick<AuditFile, 'countLost'>): Gauged {
  return {
    name: 'oncebox_audit_lines_lost_total',
    help: 'Lines of --audit-log that the file did not take.',
    read: countLost,
  }
}

export type AuditFile = Awaited<ReturnType<typeof openLogFile>>
