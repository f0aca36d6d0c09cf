// Safe names for received files, alone and in archives: a sender's name becomes one harmless name that every
// file system accepts.

/** The longest name that common file systems accept, in bytes of UTF-8. */
const MAX_NAME_BYTES = 255
const MAX_EXTENSION_BYTES = 32
/** How many characters of a sender's name are used: the last ones, which include the extension. */
const MAX_SENT_CHARACTERS = 500
const UNNAMED = 'file'

/**
 * Invisible characters and those that change the direction of text, including variation selectors and
 * fillers.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/**
 * Device names of Windows, with any extension, and file names that make Windows run code when a folder opens.
 */
const RESERVED =
  /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])\s*(\.|$)|^(desktop\.ini|autorun\.inf)$/i
/** Endings that Windows drops, and beginnings that hide a file or look like a flag. */
const EDGES = /^[\s.\p{Pd}\u2212]+|(?<![\s.])[\s.]+$/gu
/** Matches the colon, which on NTFS separates a file's name from the name of a stream. */
const STREAM = /:/g
const REFUSED_BY_WINDOWS = /[<>"|?*]/g

type NamingOptions = { platform: string }

/** Returns a name without folders, neither hidden nor reserved, of at most 255 bytes of UTF-8. */
export function safeFilename(sent: string, { platform }: NamingOptions): string {
  const last = visible(sent.slice(-MAX_SENT_CHARACTERS)).split(/[/\\]/).at(-1) ?? ''
  const named = last.replace(STREAM, '_')
  const allowed = platform === 'win32' ? named.replace(REFUSED_BY_WINDOWS, '_') : named
  const plain = allowed.replace(EDGES, '')
  if (plain === '') return UNNAMED
  return fitName(RESERVED.test(plain) ? `_${plain}` : plain, '')
}

/**
 * Returns names for the files of one push. They differ even on systems that ignore case and Unicode
 * normalization.
 */
export function safeFilenames(sent: readonly string[], options: NamingOptions): string[] {
  const taken = new Set<string>()
  // The last number used for each name, so that a thousand files of one name take linear time.
  const numbers = new Map<string, number>()
  return sent.map((name) => {
    const wanted = safeFilename(name, options)
    const folded = foldName(wanted)
    for (let n = (numbers.get(folded) ?? 0) + 1; ; n += 1) {
      const candidate = numberedName(wanted, n)
      const key = foldName(candidate)
      if (taken.has(key)) continue
      taken.add(key)
      numbers.set(folded, n)
      return candidate
    }
  })
}

/** Returns `a.txt`, then `a (2).txt`, and so on. */
export function numberedName(name: string, n: number): string {
  return n === 1 ? name : fitName(name, ` (${n})`)
}

/** Composes characters (NFC), removes invisible ones, and replaces each run of blanks by one space. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replace(INVISIBLE, '')
    .normalize('NFC')
    .replace(/\s+/g, ' ')
}

/** Puts `suffix` before the extension and shortens the stem, between characters, to fit the limit. */
function fitName(name: string, suffix: string): string {
  const { stem, extension } = splitName(name)
  const room = MAX_NAME_BYTES - bytesOf(suffix + extension).length
  return `${cutBytes(stem, room)}${suffix}${extension}`
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot) : ''
  const isUsual = extension.length > 1 && bytesOf(extension).length <= MAX_EXTENSION_BYTES
  return isUsual ? { stem: name.slice(0, dot), extension } : { stem: name, extension: '' }
}

function cutBytes(text: string, maxBytes: number): string {
  const bytes = bytesOf(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  // Continuation bytes of UTF-8 begin with the bits 10.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return new TextDecoder().decode(bytes.subarray(0, end)).replace(EDGES, '')
}

/** Works in browsers too, which have no Buffer. */
function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function foldName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase()
}
