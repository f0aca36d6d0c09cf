// Fetches the authority of a server that this computer does not know yet. Nothing is believed until a person has compared it.

import { X509Certificate } from 'node:crypto'
import { readBody } from './answer-body.ts'
import { unreachable } from './unreachable.ts'

/** What a server says its authority is, in PEM, with the SHA-256 fingerprint: `AB:CD:…`. */
export type ClaimedAuthority = { certificate: string; fingerprint: string }

const PATH = '/trust/oncebox.pem'
const MAX_BYTES = 64 * 1024
const PATIENCE_MS = 15_000

/** Sends neither token nor cookie. Null when the server has no authority of its own. Throws ClientFailure. */
export async function fetchAuthority(server: string): Promise<ClaimedAuthority | null> {
  const response = await fetch(`${server}${PATH}`, {
    redirect: 'manual',
    headers: { 'accept-encoding': 'identity' },
    decompress: false,
    signal: AbortSignal.timeout(PATIENCE_MS),
    // Only to learn whom to ask about: every other request verifies.
    tls: { rejectUnauthorized: false },
  }).catch((cause) => {
    throw unreachable(new URL(server).origin, cause)
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    return null
  }
  const watch = { count: () => undefined }
  const bytes = await readBody(response, { server, maxBytes: MAX_BYTES, watch })
  return parseAuthority(Buffer.from(bytes).toString('latin1'))
}

function parseAuthority(text: string): ClaimedAuthority | null {
  try {
    const parsed = new X509Certificate(text)
    return parsed.ca ? { certificate: parsed.toString(), fingerprint: parsed.fingerprint256 } : null
  } catch {
    return null
  }
}

/** The object identifier of name constraints (RFC 5280, 4.2.1.10), in DER. */
const NAME_CONSTRAINTS = Buffer.from('0603551d1e', 'hex')

/** Whether it can vouch for certain names alone, as those of Oncebox do. */
export function isLimited({ certificate }: ClaimedAuthority): boolean {
  return new X509Certificate(certificate).raw.includes(NAME_CONSTRAINTS)
}

/** Without colons, blanks and capitals, as people and programs write it; null for what is no SHA-256 fingerprint. */
export function normalFingerprint(text: string): string | null {
  const hex = text
    .replace(/^\s*sha-?256[=:\s]*/i, '')
    .replace(/[\s:]/g, '')
    .toLowerCase()
  return /^[\da-f]{64}$/.test(hex) ? hex : null
}
