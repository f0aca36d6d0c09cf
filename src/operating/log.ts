// The log, as JSON lines of pino or as text. Callers never pass it a body, query, token, link or passphrase.

import { levels, pino } from 'pino'

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
  const message = typeof first === 'string' ? first : second
  const { method, route, status, durationMs, requestId, err, ...rest } = fields
  const words = [new Date(time).toISOString(), levels.labels[level], message, method, route, status]
  if (durationMs !== undefined) words.push(`${durationMs}ms`)
  for (const name in rest) if (rest[name] !== undefined) words.push(`${name}=${JSON.stringify(rest[name])}`)
  if (requestId !== undefined) words.push(`[${requestId}]`)
  const text = words.filter((word) => word !== undefined).join(' ')
  return err === undefined ? text : `${text}\n${describeError(err)}`
}

function describeError(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
