// Reads the head of a multipart part: its name, its file name in each notation that clients use (RFC 7578, 4.2), and its type.

import { ANY_TYPE } from '../../domain/files.ts'

export type PartHead = {
  name: string
  /** Null for a part that is no file. */
  filename: string | null
  contentType: string
}

/** `head` has one character for each byte. Null without a "Content-Disposition: form-data". */
export function readPartHead(head: string): PartHead | null {
  const disposition = headerIn(head, 'content-disposition') ?? ''
  if (!/^form-data\s*(;|$)/i.test(disposition) || /[\r\n]/.test(disposition)) return null
  const { name = '', filename, 'filename*': extended } = parametersOf(disposition)
  const [type = ''] = (headerIn(head, 'content-type') ?? '').split(';', 1)
  return {
    // Some clients escape the brackets.
    name: decodeUtf8(name).replace(/%5b/gi, '[').replace(/%5d/gi, ']'),
    // RFC 6266, 4.3 prefers `filename*`.
    filename: decodeExtended(extended ?? '') ?? decodeFilename(filename ?? extended ?? null),
    contentType: type.trim().toLowerCase() || ANY_TYPE,
  }
}

/** The first header of this name, on one line. */
function headerIn(head: string, name: string): string | undefined {
  const lines = head.replace(/\r\n[\t ]+/g, ' ').split('\r\n')
  const line = lines.find((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`)
  return line?.slice(name.length + 1).trim()
}

/** A parameter, whose value may be quoted. A `;` within quotes does not start another one. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g

/** The parameters of a header, by their names in lower case. */
export function parametersOf(header: string): Partial<Record<string, string>> {
  const found = Array.from(header.matchAll(PARAMETER), ([, name = '', quoted, token = '']) => {
    // Old browsers send folders of Windows, whose backslashes escape nothing.
    const value = quoted?.replace(/\\(["\\])/g, '$1') ?? token.trim()
    return [name.toLowerCase(), value] as const
  })
  return Object.fromEntries(found.reverse())
}

/** Decodes charset, language and percent-encoded bytes (RFC 8187, 3.2). Null if they are malformed. */
function decodeExtended(value: string): string | null {
  const [, charset = '', encoded = ''] = /^([^']+)'[^']*'(.*)$/s.exec(value) ?? []
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytesOf(encoded, /%([0-9a-f]{2})/gi))
  } catch {
    return null
  }
}

/** The only escapes that browsers use in a file name (HTML, "multipart/form-data encoding algorithm"). */
const BROWSER_ESCAPES = /%(?:22|0D|0A)/g

/** Leaves any other `%` as part of the name. */
function decodeFilename(sent: string | null): string | null {
  if (sent === null) return null
  const name = decodeUtf8(sent)
  const words = decodeEncodedWords(name)
  return words === name ? name.replace(BROWSER_ESCAPES, decodeURIComponent) : words
}

const WORD = /=\?([^?]+)\?([bq])\?([^?]*)\?=/gi

/** Decodes MIME encoded words (RFC 2047). Leaves other text as it is, and words in an unknown charset. */
function decodeEncodedWords(text: string): string {
  const joined = text.replace(/\?=\s+=\?/g, '?==?')
  return joined.replace(WORD, (word, charset: string, encoding: string, content: string) => {
    const isBase64 = encoding.toLowerCase() === 'b'
    const bytes = isBase64
      ? Buffer.from(content, 'base64')
      : bytesOf(content.replaceAll('_', ' '), /=([0-9a-f]{2})/gi)
    try {
      return new TextDecoder(charset.split('*', 1)[0] ?? 'utf-8').decode(bytes)
    } catch {
      return word
    }
  })
}

/** `escaped` finds the hexadecimal digits of a byte; any other character is its own byte. */
function bytesOf(text: string, escaped: RegExp): Buffer {
  const latin = text.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin, 'latin1')
}

function decodeUtf8(latin: string): string {
  return Buffer.from(latin, 'latin1').toString('utf8')
}
