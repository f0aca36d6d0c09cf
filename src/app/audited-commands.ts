// Records what commands on accounts do, in the --audit-log of the server of their data folder.

import type { Now } from '../domain/time.ts'
import { presentAuditLine } from '../operating/audit-trail.ts'
import { AUDIT_LOG, openLogFile } from '../operating/log-file.ts'
import { readSettingsNote } from '../store/folder/notes.ts'
import { type Act, createOn } from './audit-acts.ts'

type CommandAuditOptions = { dataDir: string; now: Now; warn: (warning: string) => void }

/**
 * Opens the audit log that the folder's server last used; null if it used none. Warns about a file that
 * cannot be written, because the change itself can still be made.
 */
export async function openCommandAudit({ dataDir, now, warn }: CommandAuditOptions) {
  const { settings = [] } = readSettingsNote(dataDir) ?? {}
  const found = settings.find(({ flag, from }) => flag === 'audit-log' && from !== 'default')
  if (found === undefined) return null
  const given = { path: found.value, kind: AUDIT_LOG, onError: warn, fallBack: warn }
  const file = await openLogFile(given).catch((cause) => {
    warn(`${cause.message} The audit log has no line of this.`)
    return null
  })
  if (file === null) return null
  const tell = ({ outcome = 'success', push: _push, request: _request, ...act }: Act) =>
    file.write(presentAuditLine({ at: now(), outcome, ...act, more: { 'event.provider': 'command' } }))
  return { on: createOn(tell), close: file.close }
}
