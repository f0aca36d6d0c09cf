// Times as Rails writes them: UTC text with up to nine digits behind the seconds.

const TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:Z| UTC)?$/

/** Milliseconds since 1970; null when the value is no such time. */
export function parseTime(value: unknown): number | null {
  const [, day, time, fraction = ''] = TIME.exec(typeof value === 'string' ? value : '') ?? []
  if (day === undefined || time === undefined) return null
  const ms = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  return Number.isNaN(ms) ? null : ms
}
