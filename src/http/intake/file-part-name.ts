// Reads the file name of a multipart part in each notation that clients use (RFC 7578, 4.2).

/**
 * Prefers `filename*` to `filename` (RFC 6266, 4.3). `given`: the name that the parser found; `disposition`:
 * the whole header, one character per byte.
 */
export function readFilename(given: string, disposition: string): string {
  return extendedFilename(disposition) ?? decodeFilename(given)
}

/** Matches a parameter, whose value may be quoted. A `;` within quotes does not begin another one. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g

function extendedFilename(disposition: string): string | null {
  if (!disposition.includes('*')) return null
  for (const [, name, quoted, token] of disposition.matchAll(PARAMETER)) {
    if (name?.toLowerCase() === 'filename*') return decodeExtended(quoted ?? token?.trim() ?? '')
  }
  return null
}

/**
 * Decodes charset, language and percent-encoded bytes (RFC 8187, 3.2). Returns null if they are malformed.
 */
function decodeExtended(value: string): string | null {
  const [, charset = '', encoded = ''] = /^([^']+)'[^']*'(.*)$/s.exec(value) ?? []
  const latin = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.from(latin, 'latin1'))
  } catch {
    return null
  }
}

/** The only escapes that browsers use in a file name (HTML, "multipart/form-data encoding algorithm"). */
const BROWSER_ESCAPES = /%(?:22|0D|0A)/g

/** Decodes only these escapes; any other `%` is part of the name. */
function decodeFilename(name: string): string {
  const words = decodeEncodedWords(name)
  return words === name ? name.replace(BROWSER_ESCAPES, decodeURIComponent) : words
}

const WORD = /=\?([^?]+)\?([bq])\?([^?]*)\?=/gi

/** Decodes MIME encoded words (RFC 2047). Leaves other text, and words in an unknown charset, unchanged. */
function decodeEncodedWords(text: string): string {
  const joined = text.replace(/\?=\s+=\?/g, '?==?')
  return joined.replace(WORD, (word, charset: string, encoding: string, content: string) => {
    const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : decodeQ(content)
    try {
      return new TextDecoder(charset.split('*', 1)[0] ?? 'utf-8').decode(bytes)
    } catch {
      return word
    }
  })
}

function decodeQ(content: string): Buffer {
  const latin = content
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin, 'latin1')
}
