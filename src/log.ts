// The log: pino's lines as they are, or as text. It gets no body, query, token, link or passphrase to begin with.

import { pino } from 'pino'

export type LogFormat = 'text' | 'json'

export type Log = ReturnType<typeof createLog>

/** `write` is handed finished lines without a newline; `now` is in milliseconds since 1970. */
export function createLog(options: { format: LogFormat; now: () => number; write: (line: string) => void }) {
  const { format, now, write } = options
  const toLine = format === 'json' ? (line: string) => line.trimEnd() : toText
  const settings = {
    base: null,
    timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return pino(settings, { write: (line: string) => write(toLine(line)) })
}

/** `2026-11-20T22:47:00.000Z info GET /up 200 0.4ms [k3f-1]` */
function toText(line: string): string {
  const { time, level, msg, method, route, status, durationMs, requestId, err, ...rest } = JSON.parse(line)
  const words = [time, level, msg, method, route, status]
  if (durationMs !== undefined) words.push(`${durationMs}ms`)
  for (const [name, value] of Object.entries(rest)) words.push(`${name}=${JSON.stringify(value)}`)
  if (requestId !== undefined) words.push(`[${requestId}]`)
  const text = words.filter((word) => word !== undefined && word !== '').join(' ')
  return err === undefined ? text : `${text}\n${err.stack ?? err.message ?? JSON.stringify(err)}`
}
