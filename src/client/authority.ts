// Fetches the certificate authority of a server that this computer does not trust yet. The user must compare
// its fingerprint before it is trusted.

import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { DetailedPeerCertificate } from 'node:tls'
import { unreachable } from './failure.ts'

/** An authority as the server presents it, not yet verified: PEM, and its SHA-256 fingerprint `AB:CD:…`. */
export type ClaimedAuthority = { certificate: string; fingerprint: string }

const PATIENCE_MS = 15_000
/** More certificates than any server sends. */
const MAX_CHAIN = 10

/**
 * Makes a TLS handshake without sending a request. Resolves to null if the server presents no authority of
 * its own. Throws ClientFailure.
 */
export async function fetchAuthority(server: string): Promise<ClaimedAuthority | null> {
  // Loaded only when needed: it takes megabytes.
  const { connect } = await import('node:tls')
  const { hostname, port, origin } = new URL(server)
  const host = hostname.replace(/^\[|\]$/g, '')
  const name = isIP(host) === 0 ? { servername: host } : {}
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      socket.destroy()
      reject(unreachable(origin, cause))
    }
    // Only this handshake does not verify the certificate, to learn the claimed authority. All requests
    // verify it.
    const socket = connect({ host, port: Number(port || 443), ...name, rejectUnauthorized: false }, () => {
      const authority = lastOf(socket.getPeerCertificate(true))
      socket.destroy()
      resolve(authority)
    })
    socket.once('error', fail)
    socket.setTimeout(PATIENCE_MS, () => fail(new DOMException('no answer', 'TimeoutError')))
  })
}

/** Returns the self-signed certificate at the end of the chain, if it is an authority. */
function lastOf(leaf: DetailedPeerCertificate): ClaimedAuthority | null {
  let last = leaf
  for (let depth = 0; depth < MAX_CHAIN; depth += 1) {
    const issuer = last.issuerCertificate
    if (issuer === undefined || issuer === null || issuer.fingerprint256 === last.fingerprint256) break
    last = issuer
  }
  if (last === leaf || last.raw === undefined) return null
  const parsed = new X509Certificate(last.raw)
  return parsed.ca ? { certificate: parsed.toString(), fingerprint: parsed.fingerprint256 } : null
}

/** Removes colons and blanks, and lower-cases. Returns null for text that is not a SHA-256 fingerprint. */
export function normalFingerprint(text: string): string | null {
  const hex = text
    .replace(/^\s*sha-?256[=:\s]*/i, '')
    .replace(/[\s:]/g, '')
    .toLowerCase()
  return /^[\da-f]{64}$/.test(hex) ? hex : null
}
