// Codes of an authenticator app (TOTP, RFC 6238): SHA-1, six digits, thirty seconds, which every app
// supports.

import type { TOTP } from 'otpauth'
import { deriveKey } from './hkdf.ts'

const PERIOD_SECONDS = 30
const SECRET_BYTES = 20
/** Time steps that a phone's clock may be off, either way. */
const WINDOW = 1

/** Loads the library at the first use of a second factor. */
const library = (): typeof import('otpauth') => require('otpauth')

/**
 * Derives a secret in base32, which people can type. The same `info` gives the same secret, which
 * nobody without the key can predict.
 */
export function deriveTotpSecret(key: Uint8Array, info: string): string {
  const bytes = deriveKey({ material: [key], info: `oncebox/1/totp/${info}` }).subarray(0, SECRET_BYTES)
  return new (library().Secret)({ buffer: new Uint8Array(bytes).buffer }).base32
}

/** The content of the QR code. */
export function totpUri(options: { secret: string; email: string; issuer: string }): string {
  return totpOf(options).toString()
}

type TotpCheck = {
  secret: string
  code: string
  /** Milliseconds since 1970. */
  now: number
  /** The time step of the last accepted code: no code is accepted twice. */
  lastStep: number | null
}

/** Returns the time step of the code; null if the code is wrong, outdated or used. */
export function checkTotp({ secret, code, now, lastStep }: TotpCheck): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const delta = totpOf({ secret, email: '', issuer: '' }).validate({ token, timestamp: now, window: WINDOW })
  if (delta === null) return null
  const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta
  return lastStep !== null && step <= lastStep ? null : step
}

/** Whether a form's value is a well-formed secret. */
export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text)
}

function totpOf({ secret, email, issuer }: { secret: string; email: string; issuer: string }): TOTP {
  const { Secret, TOTP } = library()
  return new TOTP({ issuer, label: email, secret: Secret.fromBase32(secret), period: PERIOD_SECONDS })
}
