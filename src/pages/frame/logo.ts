// The logo of --brand-logo: recognised by its content, and served as nothing but an image.

/** `type` is its media type, `extension` the end of the name under which it is served. */
export type Logo = { bytes: Uint8Array<ArrayBuffer>; type: string; extension: string }

export const MAX_LOGO_BYTES = 256 * 1024

/**
 * For an SVG that somebody opens as a page: no script runs, nothing is loaded, and it has no origin. In a
 * page, browsers already treat it as an image.
 */
export const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** Null for anything but PNG, JPEG, WebP and SVG, whatever the name of its file says. */
export function recogniseLogo(bytes: Uint8Array<ArrayBuffer>): Logo | null {
  const known = KINDS.find(({ isIt }) => isIt(bytes))
  return known === undefined ? null : { bytes, type: known.type, extension: known.extension }
}

type Kind = { type: string; extension: string; isIt: (bytes: Uint8Array) => boolean }

const KINDS: readonly Kind[] = [
  { type: 'image/png', extension: 'png', isIt: (bytes) => startsWith(bytes, '\x89PNG\r\n\x1a\n') },
  { type: 'image/jpeg', extension: 'jpg', isIt: (bytes) => startsWith(bytes, '\xff\xd8\xff') },
  {
    type: 'image/webp',
    extension: 'webp',
    isIt: (bytes) => startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP'),
  },
  { type: 'image/svg+xml', extension: 'svg', isIt: isSvg },
]

function startsWith(bytes: Uint8Array, text: string): boolean {
  return (
    Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, text.length)).toString('latin1') ===
    text
  )
}

/** An `<svg>` that nothing but a declaration, comments and a document type precede. */
function isSvg(bytes: Uint8Array): boolean {
  const text = decode(bytes)
  return (
    text !== null &&
    /^\s*(<\?xml[^>]*>\s*|<!--(?:(?!-->).)*-->\s*|<!doctype\s[^>[]*>\s*)*<svg[\s>]/is.test(text)
  )
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
