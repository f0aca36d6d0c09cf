// The parts of a server that settings switch on, with their jobs and their part of its health: TLS and backups.

import type { StartBackup } from '../backup/backup-child.ts'
import type { Backups } from '../backup/backups.ts'
import type { Job } from '../domain/job.ts'
import type { Now, Uptime } from '../domain/time.ts'
import type { Network } from '../http/door/listener.ts'
import { createCertificateWatch } from '../lan/certificate-watch.ts'
import { judgeBackup, judgeCertificate } from '../operating/checks.ts'
import type { Check } from '../operating/health.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import { openBackups } from './backing-up.ts'
import type { Tls } from './listening.ts'
import { openCertificate } from './tls.ts'

export type ExtrasOptions = {
  config: Config
  log: Log
  now: Now
  uptime: Uptime
  network?: Pick<Network, 'listAddresses' | 'hostName'>
  startBackup?: StartBackup
}

export type Extras = {
  /** Null when TLS is off. */
  tls: Tls | null
  /** Null without --backup-dir. */
  backups: Backups | null
  jobs: Job[]
  checks: Check[]
}

/** After the store, because the authority and the note about backups lie in its folder. */
export async function openExtras(options: ExtrasOptions): Promise<Extras> {
  const tls = await openTls(options)
  const backups = await openBackups(options)
  const { now } = options
  return {
    ...{ tls, backups },
    jobs: [tls?.watch.job, backups?.job].filter((job) => job !== undefined),
    checks: [
      ...(tls === null
        ? []
        : [{ part: 'certificate', look: () => judgeCertificate(tls.certificate, now()) }]),
      ...(backups === null ? [] : [{ part: 'backup', look: () => judgeBackup(backups.status()) }]),
    ],
  }
}

async function openTls({ config, log, now, network = HERE }: ExtrasOptions): Promise<Tls | null> {
  const certificate = await openCertificate({ config, log, now, network })
  return certificate && { certificate, watch: createCertificateWatch({ certificate, log }) }
}

const HERE = { listAddresses: () => [], hostName: () => 'localhost' }
