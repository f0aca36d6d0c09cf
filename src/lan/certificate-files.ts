// The certificate of --tls files: read at start, and again when the files change.

import { isKeyOf, readCertificate } from '../crypto/certificate-facts.ts'
import type { KeyPair } from '../crypto/certificates.ts'
import { conflict, type DomainError } from '../domain/errors.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import type { Now } from '../domain/time.ts'
import type { Certificate } from './certificate.ts'

type CertificateFilesOptions = {
  certPath: string
  keyPath: string
  /** Rejects when the file cannot be read. */
  readFile: (path: string) => Promise<string>
  now: Now
}

/**
 * Opens the files. Throws `conflict`, naming the file and its problem. `refresh` throws the same, and keeps
 * the old pair.
 */
export async function openCertificateFiles(options: CertificateFilesOptions): Promise<Certificate> {
  let current = await readPair(options)

  async function refresh(): Promise<boolean> {
    const found = await readPair(options)
    if (found.certificate === current.certificate && found.key === current.key) return false
    current = found
    return true
  }

  const facts = () => readCertificate(current.certificate)
  return { current: () => current, facts, refresh, authority: null }
}

async function readPair({ certPath, keyPath, readFile, now }: CertificateFilesOptions): Promise<KeyPair> {
  const read = (flag: string, path: string) =>
    readFile(path).catch((cause) => {
      const reason = explainSystemError(cause)
      throw refusal(`${flag} ${path} cannot be read${reason === null ? '' : `: ${reason}`}`)
    })
  const pair = { certificate: await read('--tls-cert', certPath), key: await read('--tls-key', keyPath) }
  if (/ENCRYPTED/.test(pair.key)) {
    throw refusal(
      `--tls-key ${keyPath} is encrypted: store it without a passphrase, closed to others (chmod 600)`,
    )
  }
  requireMatch(pair, { certPath, keyPath })
  requireValid(pair, { certPath, now: now() })
  return pair
}

function requireMatch(pair: KeyPair, { certPath, keyPath }: { certPath: string; keyPath: string }): void {
  let isMatch: boolean
  try {
    isMatch = isKeyOf(pair)
  } catch {
    const isCertificate = /-----BEGIN CERTIFICATE-----/.test(pair.certificate)
    throw refusal(
      isCertificate
        ? `--tls-key ${keyPath} holds no private key in PEM`
        : `--tls-cert ${certPath} holds no certificate in PEM`,
    )
  }
  if (isMatch) return
  throw refusal(
    `--tls-key ${keyPath} does not belong to the first certificate in --tls-cert ${certPath}: the server's own goes first`,
  )
}

function requireValid(pair: KeyPair, { certPath, now }: { certPath: string; now: number }): void {
  const { validFrom, validUntil } = readCertificate(pair.certificate)
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  if (now > validUntil) throw refusal(`the certificate in ${certPath} lapsed on ${day(validUntil)}: renew it`)
  if (now < validFrom) {
    throw refusal(
      `the certificate in ${certPath} is valid from ${day(validFrom)} on: set this machine's clock right, or wait`,
    )
  }
}

function refusal(message: string): DomainError {
  return conflict(`Cannot serve TLS: ${message}.`)
}
