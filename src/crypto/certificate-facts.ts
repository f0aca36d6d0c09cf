// Reads the facts of a certificate in PEM, and checks whether a key belongs to it.

import { createPrivateKey, X509Certificate } from 'node:crypto'

export type CertificateFacts = {
  /** SHA-256 of the certificate, as browsers and openssl show it: `AB:CD:…`. */
  fingerprint: string
  /** Milliseconds since 1970. */
  validFrom: number
  validUntil: number
  subject: string
  names: string[]
  addresses: string[]
  der: Buffer
}

/** Reads the first certificate in the text. Throws if there is none. */
export function readCertificate(pem: string): CertificateFacts {
  const { fingerprint256, validFrom, validTo, subject, subjectAltName = '', raw } = new X509Certificate(pem)
  const alternatives = subjectAltName.split(/, ?/)
  const valuesOf = (kind: string) =>
    alternatives.flatMap((text) => (text.startsWith(`${kind}:`) ? [text.slice(kind.length + 1)] : []))
  return {
    fingerprint: fingerprint256,
    validFrom: Date.parse(validFrom),
    validUntil: Date.parse(validTo),
    subject,
    names: valuesOf('DNS'),
    addresses: valuesOf('IP Address'),
    der: raw,
  }
}

/** Whether the key belongs to the certificate. Throws if one of them cannot be read. */
export function isKeyOf(pem: { certificate: string; key: string }): boolean {
  return new X509Certificate(pem.certificate).checkPrivateKey(createPrivateKey(pem.key))
}

/** Whether `authority` signed the certificate. Throws if one of them cannot be read. */
export function isIssuedBy(certificate: string, authority: string): boolean {
  const issuer = new X509Certificate(authority)
  const issued = new X509Certificate(certificate)
  return issued.checkIssued(issuer) && issued.verify(issuer.publicKey)
}
