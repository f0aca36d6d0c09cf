// Parsers for the settings of sign-in by a provider or a proxy.

import { parseEmail } from '../domain/account.ts'
import type { GroupRule } from '../domain/identity.ts'
import { isLoopback } from '../text/local-names.ts'
import type { Parsed } from './parsers.ts'

/**
 * Parses the issuer without changing its spelling, because tokens name it so. Allows plain http on loopback
 * alone.
 */
export function issuerUrl(text: string): Parsed<string> {
  const value = text.trim()
  const url = /^https?:\/\/[^?#@\s]{1,480}$/i.test(value) ? URL.parse(value) : null
  if (
    url !== null &&
    /^(login(\.partner)?\.microsoftonline\.|sts\.windows\.net$)/.test(url.hostname) &&
    !/^\/[\da-f-]{36}\//i.test(url.pathname)
  )
    return {
      problem: 'must name your own tenant, such as https://login.microsoftonline.com/<tenant id>/v2.0',
    }
  if (url !== null && (url.protocol === 'https:' || isLoopback(url.hostname))) return { value }
  return {
    problem:
      'must be an https URL without credentials, query or fragment, such as https://id.example/realms/staff (http only on loopback)',
  }
}

export function plainWord(text: string): Parsed<string> {
  const value = text.trim()
  return /^[ -~]{1,512}$/.test(value)
    ? { value }
    : { problem: 'must be a text of at most 512 ASCII characters' }
}

export function claimValue(text: string): Parsed<GroupRule> {
  const [, claim, value] = /^([^=\s]{1,100})=(\S.{0,199})$/.exec(text.trim()) ?? []
  if (claim !== undefined && value !== undefined) return { value: { claim, value } }
  return { problem: 'must be a claim and its value, such as groups=oncebox-admins' }
}

export function mailAddress(text: string): Parsed<string> {
  const value = parseEmail(text)
  return value === null ? { problem: 'must be an e-mail address, such as admin@example.org' } : { value }
}

/** Parses the name of a header, except those that a browser or a forwarding proxy sets. */
export function headerName(text: string): Parsed<string> {
  const value = text.trim().toLowerCase()
  const isTaken =
    /^(accept.*|authorization|content-.*|cookie|forwarded|host|if-.*|origin|referer|sec-.*|user-agent|x-forwarded-(for|host|proto)|x-oncebox-.*|x-push-.*|x-real-ip|x-user-token)$/.test(
      value,
    )
  return /^[a-z][a-z\d-]{0,63}$/.test(value) && !isTaken
    ? { value }
    : { problem: 'must be the name of a header of the proxy alone, such as Remote-Email' }
}
