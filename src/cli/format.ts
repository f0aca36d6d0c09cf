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
  return Number.isNaN(time) ? printable(iso) : LOCAL_TIME.format(time)
}

/** Without what would move the cursor, colour the terminal or turn the direction of writing; lines stay lines. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, (mark) => {
    const code = mark.codePointAt(0) ?? 0
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}

/** The same, on one line. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, ' ')
}

/** `1 view`, `5 views`; `? views` when nobody told. */
export function formatCount(number: number | null, noun: string): string {
  return `${number ?? '?'} ${noun}${number === 1 ? '' : 's'}`
}
