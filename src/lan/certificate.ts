// The interface of a certificate for serving TLS, from files or of our own.

import type { CertificateFacts } from '../crypto/certificate-facts.ts'
import type { KeyPair } from '../crypto/certificates.ts'

/** The authority of --tls auto, which each device has to trust once, in PEM and without its key. */
export type Authority = CertificateFacts & { certificate: string }

export type Certificate = {
  /** Its `certificate` includes the chain that clients need. */
  current(): KeyPair
  facts(): CertificateFacts
  /** Replaces the certificate when another one is due. Resolves to whether `current` has changed. */
  refresh(): Promise<boolean>
  /** The authority that issued it; null for certificates from files. */
  authority: Authority | null
}
