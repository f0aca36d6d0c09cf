// Rules for the claims of an OpenID provider about a person: the address, the groups and the second factor
// that they prove. The signature was checked before.

import { parseEmail } from './account.ts'
import { MINUTE } from './time.ts'

/** The claims of an ID token, and those of the userinfo endpoint that it lacks. */
export type ProviderClaims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

/** A claim of the provider, and the value that it must be or contain. */
export type GroupRule = { claim: string; value: string }

/** The greatest difference of clocks that is accepted between provider and server. */
export const CLOCK_SKEW = MINUTE

const GOOGLE = 'https://accounts.google.com'
/** The hosts of Microsoft Entra, and the tenant of personal accounts, which anyone may have. */
const ENTRA =
  /^https:\/\/(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)\//
const ENTRA_TENANT = /^https:\/\/[^/]+\/([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})(\/|$)/i
const PERSONAL_TENANT = '9188040d-6c67-4b5b-b112-36a304b66dad'

/**
 * Returns the person's address if the provider has verified it, else null. With Entra and Google a person can
 * choose an address, so theirs is trusted only for one tenant, and for the listed domains.
 */
export function verifiedAddress(claims: ProviderClaims, domains: readonly string[]): string | null {
  const { iss, email, hd } = claims
  const address = typeof email === 'string' ? parseEmail(email) : null
  if (address === null || /[,;:<>()"\\]/.test(address)) return null
  if (ENTRA.test(iss)) return isOwnTenant(iss) && isTrue(claims.xms_edov) ? address : null
  if (claims.email_verified !== true) return null
  if (iss === GOOGLE || iss === 'accounts.google.com')
    return typeof hd === 'string' && domains.includes(hd.toLowerCase()) ? address : null
  return address
}

function isOwnTenant(issuer: string): boolean {
  const tenant = ENTRA_TENANT.exec(issuer)?.[1]?.toLowerCase()
  return tenant !== undefined && tenant !== PERSONAL_TENANT
}

/** Entra writes this flag as a number or a text, depending on the token. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true'
}

/** Whether the claim is the value, or a list with it. False if it is missing or left out as too long. */
export function isInGroup(claims: ProviderClaims, { claim, value }: GroupRule): boolean {
  const elsewhere = claims._claim_names
  if (typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, claim)) return false
  const groups = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return Array.isArray(groups) ? groups.includes(value) : groups === value
}

/** Whether the provider asked for a second factor (RFC 8176). */
export function isMultiFactor({ amr }: ProviderClaims): boolean {
  return Array.isArray(amr) && amr.includes('mfa')
}

type Visited = { startedAt: number; now: number }

/** Whether the person has authenticated during a visit; null if the provider does not say when. */
export function isFreshAt(
  { auth_time: seconds }: ProviderClaims,
  { startedAt, now }: Visited,
): boolean | null {
  if (seconds === undefined || seconds === null) return null
  const at = typeof seconds === 'number' ? seconds * 1000 : Number.NaN
  return at >= startedAt - CLOCK_SKEW && at <= now + CLOCK_SKEW
}
