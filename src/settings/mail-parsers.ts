// Parsers for the mail server, whose address may contain a password, and for the sender of mails.

import { isMailAddress, type MailAddress, type MailServer } from '../domain/mail-address.ts'
import { plainText } from './brand-parsers.ts'
import { type OperatingSystem, type Parsed, host as parseHost, path } from './parsers.ts'

const EXAMPLE = 'smtps://user:password@mail.example'
const MAX_SENDER_NAME = 100
const PORTS: Partial<Record<string, number>> = { 'smtps:': 465, 'smtp:': 587 }

/** Requires TLS either way: implicit with smtps://, by STARTTLS with smtp://. */
export function smtpUrl(text: string, os: OperatingSystem): Parsed<MailServer> {
  const given = text.trim()
  const url = given.length > 2000 || /[\p{Cc}\s]/u.test(given) ? null : URL.parse(given)
  const usual = url === null ? undefined : PORTS[url.protocol]
  if (url === null || usual === undefined || !/^\/?$/.test(url.pathname) || url.hash !== '')
    return wrong(
      `must be such as ${EXAMPLE}, with @ : / ? # and % in user and password written as %40 and so on`,
    )
  const host = parseHost(url.hostname)
  if (!('value' in host)) return wrong(`must name a host, such as ${EXAMPLE}`)
  const { ca, ...others } = Object.fromEntries(url.searchParams)
  if (Object.keys(others).length > 0) return wrong('must have no option but ca, the file of an authority')
  const file = ca === undefined ? null : path(ca, os)
  if (file !== null && 'problem' in file) return wrong(`must have as ca a file: ${file.problem}`)
  const login = loginOf(url)
  if (login === 'wrong') return wrong('must have both user and password, or neither, with % written as %25')
  const port = url.port === '' ? usual : Number(url.port)
  return {
    value: { host: host.value, port, isTls: url.protocol === 'smtps:', login, ca: file?.value ?? null },
  }
}

function loginOf({ username, password }: URL): MailServer['login'] | 'wrong' {
  if (username === '' && password === '') return null
  try {
    const login = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
    return Object.values(login).some((part) => part === '' || part.includes('\0')) ? 'wrong' : login
  } catch {
    return 'wrong'
  }
}

function wrong(problem: string): Parsed<never> {
  return { problem, isSecret: true }
}

/** Formats the address for `oncebox config`: without user and password. */
export function showSmtpUrl(text: string): string {
  const url = URL.parse(text.trim())
  return url === null ? '(hidden)' : `${url.protocol}//${url.host}${url.search}`
}

/** Parses `Name <address>`, or an address alone. */
export function mailFrom(text: string, os: OperatingSystem): Parsed<MailAddress> {
  const [, given = '', bracketed] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = (bracketed ?? text).trim()
  if (!isMailAddress(address))
    return { problem: 'must be an address such as once@example.org, or Name <once@example.org>' }
  if (given.trim() === '') return { value: { name: '', address } }
  const name = plainText(MAX_SENDER_NAME)(given, os)
  return 'value' in name
    ? { value: { name: name.value, address } }
    : { problem: `has a name that ${name.problem}` }
}
