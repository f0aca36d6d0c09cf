// The check of the certificate for /readyz.

import { DAY, type Now } from '../domain/time.ts'
import { FINE, type Finding, type HealthCheck } from '../operating/health.ts'
import type { Certificate } from './certificate.ts'

/** How long before the end of a certificate an operator is warned. */
const WARN_LEAF = 7 * DAY
const WARN_AUTHORITY = 90 * DAY

export type CertificateCheckOptions = { certificate: Certificate; now: Now }

export function createCertificateCheck({ certificate, now }: CertificateCheckOptions): HealthCheck {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)

  function look(): Finding {
    const end = certificate.validUntil()
    const { authority } = certificate
    if (now() > end) return { todo: `The certificate lapsed on ${day(end)}: renew it.`, isBlocking: true }
    if (now() > end - WARN_LEAF) return { todo: `The certificate lapses on ${day(end)}: renew it.` }
    if (authority === null || now() < authority.validUntil - WARN_AUTHORITY) return FINE
    const ends = day(authority.validUntil)
    return {
      todo: `The authority ends on ${ends}. A start in its last 30 days makes another one, to be trusted anew.`,
    }
  }

  return { name: 'certificate', look }
}
