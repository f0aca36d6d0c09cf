// Names for received files: whatever the sender wrote, the result is one harmless name that every system can hold.

/** Bytes of UTF-8 that a file system takes for one name. */
const MAX_NAME_BYTES = 255
const MAX_EXTENSION_BYTES = 32
const UNNAMED = 'file'

/** Characters that show nothing or change the direction of writing; variation selectors and fillers among them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** Windows opens a device for these, whatever the extension; a few file names make a folder run something. */
const RESERVED =
  /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[\d¹²³]|lpt[\d¹²³])\s*(\.|$)|^(desktop\.ini|autorun\.inf)$/i
/** Ends of a name that Windows drops, and beginnings that hide a file or make it look like a flag. */
const EDGES = /^[\s.\p{Pd}\u2212]+|[\s.]+$/gu
/** NTFS takes what follows a colon for a stream of the file. */
const STREAM = /:/g
const REFUSED_BY_WINDOWS = /[<>"|?*]/g

export type NamingOptions = { platform: string }

/** A name without folders, hidden or reserved meaning, of at most 255 bytes of UTF-8. */
export function safeFilename(sent: string, { platform }: NamingOptions): string {
  const last = visible(sent).split(/[/\\]/).at(-1) ?? ''
  const named = last.replace(STREAM, '_')
  const allowed = platform === 'win32' ? named.replace(REFUSED_BY_WINDOWS, '_') : named
  const plain = allowed.replace(EDGES, '')
  if (plain === '') return UNNAMED
  return fitName(RESERVED.test(plain) ? `_${plain}` : plain, '')
}

/** Names for the files of one push, all different, also on systems that ignore case and ways of writing an accent. */
export function safeFilenames(sent: readonly string[], options: NamingOptions): string[] {
  const taken = new Set<string>()
  return sent.map((name) => {
    const wanted = safeFilename(name, options)
    for (let n = 1; ; n += 1) {
      const candidate = numberedName(wanted, n)
      if (taken.has(foldName(candidate))) continue
      taken.add(foldName(candidate))
      return candidate
    }
  })
}

/** `a.txt`, then `a (2).txt`, and so on. */
export function numberedName(name: string, n: number): string {
  return n === 1 ? name : fitName(name, ` (${n})`)
}

/** Composed, without what cannot be seen, each run of blanks as one space. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replace(INVISIBLE, '')
    .normalize('NFC')
    .replace(/\s+/g, ' ')
}

/** Puts `suffix` before the extension and cuts the stem, never within a character, to what a name may have. */
function fitName(name: string, suffix: string): string {
  const { stem, extension } = splitName(name)
  const room = MAX_NAME_BYTES - Buffer.byteLength(suffix + extension)
  return `${cutBytes(stem, room)}${suffix}${extension}`
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot) : ''
  const isUsual = extension.length > 1 && Buffer.byteLength(extension) <= MAX_EXTENSION_BYTES
  return isUsual ? { stem: name.slice(0, dot), extension } : { stem: name, extension: '' }
}

function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const whole = Buffer.from(text).subarray(0, maxBytes).toString('utf8')
  return whole.replace(/\uFFFD+$/, '').replace(EDGES, '')
}

function foldName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase()
}
