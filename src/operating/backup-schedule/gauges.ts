// What the metrics tell of backups. Nothing is told of a last one while there is none.

import type { Gauged } from '../metrics.ts'
import type { BackupStatus } from './status.ts'

export function createBackupGauges(status: () => BackupStatus): Gauged[] {
  return [
    {
      name: 'oncebox_backup_last_success_timestamp_seconds',
      help: 'When the last good backup began.',
      read: () => seconds(status().last?.at),
    },
    {
      name: 'oncebox_backup_last_duration_seconds',
      help: 'How long the last good backup took.',
      read: () => seconds(status().last?.durationMs),
    },
    {
      name: 'oncebox_backup_last_size_bytes',
      help: 'Size of the last good backup.',
      read: () => status().last?.bytes ?? null,
    },
    {
      name: 'oncebox_backups_kept',
      help: 'Good backups of this server in its folder.',
      read: () => status().count,
    },
    {
      name: 'oncebox_backup_failures_total',
      help: 'Backups that could not be made, and looks at the folder that failed.',
      isCounter: true,
      read: () => status().failures,
    },
  ]
}

function seconds(ms: number | null | undefined): number | null {
  return ms == null ? null : ms / 1000
}
