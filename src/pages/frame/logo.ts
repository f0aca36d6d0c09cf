// Recognises the file of --brand-logo by its content, and makes sure that it is served only as an image.

/** `type` is the media type; `extension` is that of the served name. */
export type Logo = { bytes: Uint8Array<ArrayBuffer>; type: string; extension: string }

export const MAX_LOGO_BYTES = 256 * 1024

/**
 * The policy for an SVG opened as a page: it runs no script, loads nothing and has no origin. Inside a page,
 * browsers treat an SVG as an image anyway.
 */
export const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/**
 * Recognises the type by content, not by file name. Returns null for anything but PNG, JPEG, WebP and SVG.
 */
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

/** Whether the text is an `<svg>`, after at most a declaration, comments and a document type. */
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
