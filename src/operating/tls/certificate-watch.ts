// Checks, regularly and on SIGHUP, whether there is a new certificate, and passes it to the listener.

import type { Job, JobReport } from '../../domain/job.ts'
import type { Log } from '../log.ts'
import type { Reloadable } from '../reload.ts'
import type { Certificate, TlsKeyPair } from './certificate.ts'

const LOOK_EVERY_MS = 30_000

export type CertificateWatch = {
  job: Job
  reloadable: Reloadable
  /** Sets the function that receives each new certificate. */
  follow(serve: (pair: TlsKeyPair) => void): void
}

export type CertificateWatchOptions = { certificate: Certificate; log: Pick<Log, 'info'> }

export function createCertificateWatch({ certificate, log }: CertificateWatchOptions): CertificateWatch {
  let serve: (pair: TlsKeyPair) => void = () => undefined
  let timer: Timer | undefined
  let lastProblem: string | null = null

  async function look(): Promise<void> {
    if (!(await certificate.refresh())) return
    serve(certificate.current())
    const validUntil = new Date(certificate.validUntil()).toISOString()
    log.info({ names: certificate.names(), validUntil }, 'serving a new certificate')
  }

  /** Reports a problem once, however often it is found again. */
  async function lookAgain(report: JobReport): Promise<void> {
    try {
      await look()
      lastProblem = null
      report.did()
    } catch (cause) {
      const problem = String(cause)
      if (problem !== lastProblem) report.failed(cause)
      lastProblem = problem
    }
  }

  return {
    job: {
      name: 'certificate',
      start: (report) => {
        timer = setInterval(lookAgain, LOOK_EVERY_MS, report)
      },
      stop: () => clearInterval(timer),
    },
    reloadable: { name: 'certificate', reload: look },
    follow: (next) => {
      serve = next
    },
  }
}
