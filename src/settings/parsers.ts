// Parsers for the values of settings, with the message for a value that does not fit.

import { isIP } from 'node:net'
import { posix, win32 } from 'node:path'
import ipaddr from 'ipaddr.js'
import { parseEmail } from '../domain/account.ts'
import { parseBucketPlace } from '../domain/bucket-place.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../domain/time.ts'
import { withScheme } from '../text/server-address.ts'
import { parseOrigin, parsePlace } from '../text/web-address.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Facts about the process and its operating system. Passed in, so that reading settings stays pure. */
export type OperatingSystem = {
  env: Environment
  platform: NodeJS.Platform
  home: string
  cwd: string
}

/**
 * `problem` continues a sentence after the name and the value: "must be …". It never repeats the value.
 * `isSecret`: the caller must not repeat the value either, because it may contain a secret.
 */
export type Parsed<T> = { value: T } | { problem: string; isSecret?: true }

export type Parser<T> = (text: string, os: OperatingSystem) => Parsed<T>

const SIZE_UNITS = {
  '': 1,
  b: 1,
  ...{ k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
  ...{ kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
}
const DURATION_UNITS = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

type Units = Readonly<Record<string, number>>

/** A parser of a number with a unit. */
type Amount = (text: string) => Parsed<number>

/** Returns NaN for any other text, so that every comparison fails. */
function amountOf(text: string, units: Units): number {
  const [, digits, unit = ''] = /^(\d{1,16}) ?([a-z]*)$/i.exec(text.trim()) ?? []
  const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined
  return digits === undefined || factor === undefined ? Number.NaN : Number(digits) * factor
}

function amount(units: Units, range: { min: string; max: string; such: string }): Amount {
  const { min, max, such } = range
  const lowest = amountOf(min, units)
  const highest = amountOf(max, units)
  return (text) => {
    const value = amountOf(text, units)
    return value >= lowest && value <= highest
      ? { value }
      : { problem: `must be ${such} from ${min} to ${max}` }
  }
}

export function wholeNumber(min: string, max: string): Amount {
  return amount({ '': 1 }, { min, max, such: 'a whole number' })
}

/** Parses bytes. K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; KB, MB, GB, TB are powers of 1000. */
export function size(min: string, max: string): Amount {
  return amount(SIZE_UNITS, { min, max, such: 'a size (such as 4096, 512KiB or 1MiB)' })
}

/** Parses a duration to milliseconds. Refuses a number without a unit, which could mean seconds or days. */
export function duration(min: string, max: string): Amount {
  return amount(DURATION_UNITS, { min, max, such: 'a duration (such as 60s, 15m, 1h or 365d)' })
}

/** Builds a parser from `read`, which gets the trimmed text and returns null for one with `problem`. */
function reading<T>(read: (text: string) => T | null, problem: string): (text: string) => Parsed<T> {
  return (text) => {
    const value = read(text.trim())
    return value === null ? { problem } : { value }
  }
}

export function oneOf<const T extends string>(...choices: T[]): Parser<T> {
  return reading(
    (text) => choices.find((choice) => choice === text) ?? null,
    `must be ${choices.join(' or ')}`,
  )
}

export const truth = reading((text) => {
  const word = text.toLowerCase()
  if (['true', '1', 'yes', 'on'].includes(word)) return true
  return ['false', '0', 'no', 'off'].includes(word) ? false : null
}, 'must be true or false (or 1, 0, yes, no, on, off)')

export function port(text: string): Parsed<number> {
  const parsed = wholeNumber('0', '65535')(text)
  if ('value' in parsed || !/^(tcp|udp):\/\//.test(text)) return parsed
  const hint =
    'Kubernetes sets this for a service named "oncebox": set enableServiceLinks to false, or give --port'
  return { problem: `${parsed.problem} (${hint})` }
}

/** Parses a path to an absolute one. Resolves a relative path from the current folder. */
export function path(text: string, os: OperatingSystem): Parsed<string> {
  const paths = os.platform === 'win32' ? win32 : posix
  if (text.trim() === '' || text.includes('\0')) return { problem: 'must be a path' }
  if (/^~($|[/\\])/.test(text))
    return { problem: 'must be a path without "~", which the shell did not expand' }
  return { value: paths.resolve(os.cwd, text) }
}

/** Matches host names. The last label must not be a number: `300.1.1.1` is a mistyped address. */
const HOST_NAME = /^(?=.{1,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)*[a-z]([a-z\d-]{0,61}[a-z\d])?$/i

export function host(text: string): Parsed<string> {
  return text.trim().startsWith('unix:') ? unixHost(text) : networkHost(text)
}

const networkHost = reading((text) => {
  const value = text.replace(/^\[(.*)\]$/, '$1')
  // Call isIP last: its regular expression for IPv6 takes 0.4 MiB, which a name such as localhost need not
  // cost.
  return HOST_NAME.test(value) || isIP(value) ? value : null
}, 'must be an address or a host name without a port, such as 127.0.0.1, :: or localhost')

/** Parses `unix:` and a path. A socket address has room for 107 bytes of path. */
const unixHost = reading((text) => {
  const socket = text.slice('unix:'.length)
  const isPath = posix.isAbsolute(socket) && !socket.endsWith('/') && !socket.includes('\0')
  return isPath && Buffer.byteLength(socket) <= 107 ? text : null
}, 'must be unix: and an absolute path of at most 107 bytes, such as unix:/run/oncebox/http.sock')

/** Parses one label of a host name to lower case. Removes `.local`. */
export const hostLabel = reading((text) => {
  const label = text.toLowerCase().replace(/\.local\.?$/, '')
  return /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/.test(label) ? label : null
}, 'must be a name of letters, digits and dashes, such as oncebox for oncebox.local')

/** Parses `off` to null, and any other text by `parse`. */
export function orOff<T>(parse: Parser<T>): Parser<T | null> {
  return (text, os) => {
    if (text.trim() === 'off') return { value: null }
    const parsed = parse(text, os)
    return 'value' in parsed ? parsed : { problem: `${parsed.problem}, or off` }
  }
}

/** Parses an address with its port: `127.0.0.1:9100`, `[::1]:9100`. Reads localhost as 127.0.0.1. */
export const addressAndPort = reading((text) => {
  const value = text.replace(/^localhost:/i, '127.0.0.1:')
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? []
  const isAddress = isIP(bracketed ?? plain ?? '') === (bracketed === undefined ? 4 : 6)
  return isAddress && Number(digits) <= 65_535 ? value : null
}, 'must be an address and a port, such as 127.0.0.1:9100 or [::1]:9100')

/** Parses a URL. Removes trailing slashes; keeps a path, for instances that are served below one. */
export const baseUrl = reading((text) => {
  const url = /^https?:\/\/[^?#]+$/i.test(text) ? URL.parse(text) : null
  if (url === null || url.username !== '' || url.password !== '') return null
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '')
}, 'must be an http or https URL without credentials, query or fragment, such as https://once.example')

/** Parses a URL like `baseUrl`, but adds a missing scheme. */
export function serverUrl(text: string): Parsed<string> {
  return baseUrl(withScheme(text))
}

/** Parses an origin whose pages may use the API, or `*` for any. Removes a trailing slash. */
export const corsOrigin = reading((text) => {
  const given = text.replace(/\/$/, '')
  return given === '*' ? given : parseOrigin(given)
}, 'must be an origin, which has no path, such as https://app.example or http://localhost:3000, or * for any')

/** Parses a host that webhooks may name, with a port unless it is the default of http or https. */
export const webhookHost = reading(
  parsePlace,
  'must be a host, host:port or address, such as ntfy.sh, 192.168.1.5:8123 or [fd00::5]:80',
)

/** Parses an address, a network in CIDR notation, or `unix`. */
export const network = reading((text) => {
  if (text === 'unix') return text
  const [address = '', ...prefix] = text.split('/')
  // ipaddr.js also accepts "10" and "0x7f.1", which are typing errors here.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return isAddress && (prefix.length === 0 || ipaddr.isValidCIDR(text)) ? text : null
}, 'must be an address such as 10.0.0.1, a network such as 10.0.0.0/8, or unix for the socket of --host')

/** Parses a domain of mail addresses, in lower case. Subdomains are others. */
export const mailDomain = reading((text) => {
  const domain = text.toLowerCase()
  return parseEmail(`a@${domain}`) === `a@${domain}` ? domain : null
}, 'must be a domain of mail addresses, such as example.org')

const shaped = (shape: RegExp, problem: string) =>
  reading((text) => (shape.test(text) ? text : null), problem)

export const profileName = shaped(
  /^[\w.-]{1,64}$/,
  'must be a short name of letters, digits, dots and dashes',
)

/** Matches one word that is valid in a header. */
const WORD = /^[!-~]{1,512}$/
export const apiToken = shaped(WORD, 'must be one word, such as obx_…')
export const accessKey = shaped(WORD, 'must be one word of letters, digits and signs')

/** Checks the URL of a bucket and returns it unchanged; `bucketPlaceOf` parses it. */
export function bucketUrl(text: string): Parsed<string> {
  const parsed = parseBucketPlace(text)
  if ('place' in parsed) return { value: text.trim() }
  // Do not quote the URL, which may contain a misplaced password or access key.
  return /@|secret|key|token|password/i.test(text) ? { ...parsed, isSecret: true } : parsed
}
