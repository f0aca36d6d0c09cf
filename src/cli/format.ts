// Formats sizes, times and untrusted text for a terminal.

import { DAY, HOUR, MINUTE } from '../domain/time.ts'
import { printableLine, UNPRINTABLE } from '../text/printable.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Formats a size in units of 1024. */
export function formatSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

/** Created with the first time that is shown, because loading the formats takes milliseconds. */
let localTime: Intl.DateTimeFormat | undefined

/**
 * Formats an ISO time in this machine's time zone: `2026-11-27 14:05`. Only escapes a text that is no time.
 */
export function formatLocalTime(iso: string): string {
  const time = Date.parse(iso)
  if (Number.isNaN(time)) return printableLine(iso)
  localTime ??= new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
  return localTime.format(time)
}

/**
 * Escapes unprintable characters in JSON, so that a terminal does not interpret them. The parsed value stays
 * the same.
 */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (mark) =>
    mark
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const MAX_QUOTED = 120

/** Quotes untrusted text, escapes invisible characters, and shortens it. */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text
  return printableJson(JSON.stringify(cut))
}

/** Quotes a word for a shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** `1 view`, `5 views`; `? views` when the number is unknown. */
export function formatCount(number: number | null, noun: string, plural = `${noun}s`): string {
  return `${number ?? '?'} ${number === 1 ? noun : plural}`
}

type Expiry = { expiresAt: string | null; daysRemaining: number | null }

/**
 * Formats the time left: `7 days` as the server counts them; on the last day `6 hours` or `45 minutes`,
 * unless this machine's clock is wrong.
 */
export function formatTimeLeft({ expiresAt, daysRemaining }: Expiry, now: number): string {
  const left = Date.parse(expiresAt ?? '') - now
  if (daysRemaining !== 1 || !(left > 0 && left < DAY)) return formatCount(daysRemaining, 'day')
  return left < HOUR
    ? formatCount(Math.ceil(left / MINUTE), 'minute')
    : formatCount(Math.round(left / HOUR), 'hour')
}

/** Formats when a push expires by time: `on 2026-11-27 14:05`, or `7 days` if the server sent no time. */
export function formatLimit(left: Expiry): string {
  return left.expiresAt === null
    ? formatCount(left.daysRemaining, 'day')
    : `on ${formatLocalTime(left.expiresAt)}`
}
