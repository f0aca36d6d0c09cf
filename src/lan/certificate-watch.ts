// Checks regularly, and on SIGHUP, for a new certificate, and passes it to the listener.

import type { KeyPair } from '../crypto/certificates.ts'
import type { Job, JobReport } from '../domain/job.ts'
import type { Log } from '../operating/log.ts'
import { joinCalls } from '../operating/reload.ts'
import type { Certificate } from './certificate.ts'

/**
 * The interval of checks, so that a new address of the machine is in the certificate within five seconds. A
 * check takes about 0.1 ms.
 */
const LOOK_EVERY_MS = 4_000

/** Resolves when the pair is served. */
type Serve = (pair: KeyPair) => Promise<void>

export type CertificateWatch = ReturnType<typeof createCertificateWatch>

type CertificateWatchOptions = { certificate: Certificate; log: Pick<Log, 'info'> }

export function createCertificateWatch({ certificate, log }: CertificateWatchOptions) {
  let serve: Serve = async () => undefined
  let timer: Timer | undefined
  let lastProblem: string | null = null
  let isServed = true

  // Join concurrent calls, because two renewals at once would leave a socket open. If a certificate could not
  // be served, the next call tries again.
  const look = joinCalls(async (): Promise<boolean> => {
    if (await certificate.refresh()) isServed = false
    if (isServed) return false
    await serve(certificate.current())
    isServed = true
    const { names, validUntil } = certificate.facts()
    log.info({ names, validUntil: new Date(validUntil).toISOString() }, 'serving a new certificate')
    return true
  })

  /** Reports a problem once, even if it is found again. */
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

  const job: Job = {
    name: 'certificate',
    start: (report) => {
      timer = setInterval(lookAgain, LOOK_EVERY_MS, report)
    },
    stop: () => clearInterval(timer),
  }
  return {
    job,
    reloadable: { name: 'certificate', reload: look },
    /** Sets the function that receives each new certificate. */
    follow: (next: Serve): void => {
      serve = next
    },
  }
}
