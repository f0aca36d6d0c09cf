// Codes of an authenticator app (TOTP, RFC 6238): SHA-1, six digits, thirty seconds, as every app knows them.

import { Secret, TOTP } from 'otpauth'
import { randomKey } from './random.ts'

const PERIOD_SECONDS = 30
const SECRET_BYTES = 20
/** Steps of time that the clock of a phone may be off, either way. */
const WINDOW = 1

/** A fresh secret in base32, as people can type it. */
export function newTotpSecret(): string {
  return new Secret({ buffer: new Uint8Array(randomKey(SECRET_BYTES)).buffer }).base32
}

/** What the QR code holds. */
export function totpUri(options: { secret: string; email: string; issuer: string }): string {
  return totpOf(options).toString()
}

export type TotpCheck = {
  secret: string
  code: string
  /** Milliseconds since 1970. */
  now: number
  /** The step whose code was used last: no code counts twice. */
  lastStep: number | null
}

/** The step of time that the code belongs to; null when it is none of now. */
export function checkTotp({ secret, code, now, lastStep }: TotpCheck): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const delta = totpOf({ secret, email: '', issuer: '' }).validate({ token, timestamp: now, window: WINDOW })
  if (delta === null) return null
  const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta
  return lastStep !== null && step <= lastStep ? null : step
}

/** Whether it can be a secret at all: what a form brought back. */
export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text)
}

function totpOf({ secret, email, issuer }: { secret: string; email: string; issuer: string }): TOTP {
  return new TOTP({ issuer, label: email, secret: Secret.fromBase32(secret), period: PERIOD_SECONDS })
}
