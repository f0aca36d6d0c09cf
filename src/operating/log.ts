// The log, as JSON lines or as text. Callers never pass it a body, query, token, link or passphrase.

import { messageOf } from '../domain/system-errors.ts'
import { formatTime } from '../domain/time.ts'
import { printable, printableLine } from '../text/printable.ts'

export type LogFormat = 'text' | 'json'

/** A message, or fields and perhaps a message. An error is the field `err`. */
type Tell = (said: string | Fields, message?: string) => void
type Fields = { err?: unknown; [name: string]: unknown }

export type Log = Record<'info' | 'warn' | 'error' | 'fatal', Tell>

type LogOptions = {
  format: LogFormat
  /** Milliseconds since 1970. */
  now: () => number
  /** Receives each finished line, without a newline. */
  write: (line: string) => void
}

export function createLog({ format, now, write }: LogOptions): Log {
  const present = format === 'json' ? toJson : toText
  const at =
    (level: string): Tell =>
    (said, message) => {
      const time = formatTime(now())
      const isText = typeof said === 'string'
      write(present({ level, time, msg: isText ? said : message, fields: isText ? {} : said }))
    }
  return { info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') }
}

type Line = { level: string; time: string; msg: string | undefined; fields: Fields }

function toJson({ level, time, msg, fields }: Line): string {
  const { err, ...rest } = fields
  const told = err === undefined ? rest : { ...rest, err: { message: messageOf(err), stack: stackOf(err) } }
  return JSON.stringify({ level, time, ...told, msg })
}

/** Fields with a fixed position in a line of text. */
const PLACED: ReadonlySet<string> = new Set(['method', 'route', 'status', 'durationMs', 'requestId', 'err'])

/** `2026-11-20T22:47:00.000Z info GET /up 200 0.4ms [k3f-1]`, followed by the stack of an error. */
function toText({ level, time, msg, fields }: Line): string {
  const { method, route, status, durationMs, requestId, err } = fields
  let text = `${time} ${level}`
  // Messages and errors may quote untrusted text, which must not look like another line of the log.
  if (msg !== undefined) text += ` ${printableLine(msg)}`
  if (route !== undefined) text += ` ${method} ${route} ${status} ${durationMs}ms`
  for (const name in fields) {
    if (!PLACED.has(name) && fields[name] !== undefined) text += ` ${name}=${JSON.stringify(fields[name])}`
  }
  if (requestId !== undefined) text += ` [${requestId}]`
  // Indents all lines but the first, so that a stack trace cannot look like log lines.
  return err === undefined ? text : `${text}\n${printable(stackOf(err)).replace(/\n(?=\S)/g, '\n    ')}`
}

function stackOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const own = cause.stack ?? cause.message
  return cause.cause === undefined ? own : `${own}\ncaused by: ${stackOf(cause.cause)}`
}
