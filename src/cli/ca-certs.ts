// Additional trusted certificates, from the file that --cacert names.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { refusalOf } from '../domain/system-errors.ts'
import type { Parsed } from '../settings/parsers.ts'

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const MAX_BYTES = 1024 * 1024

/** The certificates of a file, as PEM. A DER file contains one. */
export function readCaCerts(path: string): Parsed<string> {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    return { problem: `cannot be read: ${refusalOf(cause)}` }
  }
  const given = bytes.length > MAX_BYTES ? [] : (bytes.toString('latin1').match(PEM) ?? [bytes])
  const certificates = given.map(parseCertificate)
  return certificates.length > 0 && certificates.every((certificate) => certificate !== null)
    ? { value: certificates.join('') }
    : { problem: 'must hold certificates in PEM or DER' }
}

function parseCertificate(given: string | Buffer): string | null {
  try {
    return new X509Certificate(given).toString()
  } catch {
    return null
  }
}
