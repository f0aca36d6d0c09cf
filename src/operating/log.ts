// The log, as JSON lines of pino or as text. Callers never pass it a body, query, token, link or passphrase.

import { levels, pino } from 'pino'
import { printable, printableLine } from '../domain/printable.ts'

export type LogFormat = 'text' | 'json'

export type Log = ReturnType<typeof createLog>

export type LogOptions = {
  format: LogFormat
  /** Milliseconds since 1970. */
  now: () => number
  /** Receives each finished line, without a newline. */
  write: (line: string) => void
}

export function createLog({ format, now, write }: LogOptions) {
  const settings = {
    base: null,
    timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const lines = { write: (line: string) => write(line.trimEnd()) }
  if (format === 'json') return pino(settings, lines)
  // Builds the text before pino serialises anything, because every request writes a line.
  const logMethod = (args: unknown[], _method: unknown, level: number) => write(toText(level, now(), args))
  return pino({ ...settings, hooks: { logMethod } }, lines)
}

/** `2026-11-20T22:47:00.000Z info GET /up 200 0.4ms [k3f-1]`, followed by the stack of an error. */
function toText(level: number, time: number, [first, second]: unknown[]): string {
  const fields = typeof first === 'object' && first !== null ? (first as Record<string, unknown>) : {}
  const said = typeof first === 'string' ? first : second
  // What others said is quoted in messages and errors: it must not look like a line of the log.
  const message = typeof said === 'string' ? printableLine(said) : said
  const { method, route, status, durationMs, requestId, err, ...rest } = fields
  const words = [new Date(time).toISOString(), levels.labels[level], message, method, route, status]
  if (durationMs !== undefined) words.push(`${durationMs}ms`)
  for (const name in rest) if (rest[name] !== undefined) words.push(`${name}=${JSON.stringify(rest[name])}`)
  if (requestId !== undefined) words.push(`[${requestId}]`)
  const text = words.filter((word) => word !== undefined).join(' ')
  return err === undefined ? text : `${text}\n${describeError(err)}`
}

/** On lines of which only the first begins at the margin. */
function describeError(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return printable(text).replace(/\n(?=\S)/g, '\n    ')
}
