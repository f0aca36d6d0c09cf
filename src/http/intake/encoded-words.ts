// MIME-encoded words (RFC 2047) in file names, as some mail-minded clients send them.

const WORD = /=\?([^?]+)\?([bq])\?([^?]*)\?=/gi

/** Text without such words comes back as it is, and so does a word in a charset that nobody knows. */
export function decodeEncodedWords(text: string): string {
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
