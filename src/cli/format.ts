// What people read on a terminal: sizes, times, and text that a stranger wrote.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Bytes with a unit of 1024. */
export function formatSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

const LOCAL_TIME = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' })

/** An ISO time in the time zone of this machine, `2026-11-27 14:05`; what is no time stays as it is. */
export function formatLocalTime(iso: string): string {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? printableLine(iso) : LOCAL_TIME.format(time)
}

/**
 * What a terminal would obey, what shows nothing and what turns the direction of writing. Not among them: line breaks, tabs,
 * and the two joiners (U+200C, U+200D), which Persian and emoji need.
 */
const UNPRINTABLE = /[^\P{Cc}\n\t]|(?![\u200c\u200d])\p{Cf}|[\p{Zl}\p{Zp}\p{Cs}]/gu

/** Unprintable characters become signs; lines stay lines. For a terminal: a pipe gets the text as it is. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (mark) => {
    const code = mark.codePointAt(0) ?? 0
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}

/** The same, on one line. */
export function printableLine(text: string): string {
  return printable(text.replace(/[\n\t]/g, ' '))
}

/** JSON with unprintable characters escaped: the same value for programs, nothing to obey for a terminal. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (mark) =>
    mark
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const MAX_QUOTED = 120

/** What a stranger wrote, in quotation marks, with escapes for what cannot be seen; cut when it is long. */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text
  return printableJson(JSON.stringify(cut))
}

/** `1 view`, `5 views`; `? views` when nobody told. */
export function formatCount(number: number | null, noun: string): string {
  return `${number ?? '?'} ${noun}${number === 1 ? '' : 's'}`
}
