// Times as Rails writes them: UTC text with up to nine digits behind the seconds.

const TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:Z| UTC|\+00(?::?00)?)?$/

/** Milliseconds since 1970; null when the value is no such time. */
export function parseTime(value: unknown): number | null {
  const time = parseMicroseconds(value)
  return time === null ? null : Math.floor(time / 1000)
}

/** Microseconds since 1970, which tell the order of what happened in the same millisecond. */
export function parseMicroseconds(value: unknown): number | null {
  const [, day, time, fraction = ''] = TIME.exec(typeof value === 'string' ? value : '') ?? []
  if (day === undefined || time === undefined) return null
  const seconds = Date.parse(`${day}T${time}Z`)
  return Number.isNaN(seconds) ? null : seconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}
