// The few values that are read from the XML of an S3-compatible store. Names of its elements are fixed and never nested in
// themselves, and keys of ours need no escapes, so that this is enough.

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name; null without one. */
export function valueIn(xml: string, name: string): string | null {
  return valuesIn(xml, name)[0] ?? null
}

/** What stands in each element of this name: text, or elements. */
export function valuesIn(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, 'g'))
  return [...found].map(([, inner = '']) => (inner.includes('<') ? inner : unescapeXml(inner)))
}

/** For text between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? all
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
  })
}
