// The few values that are read from the XML of an S3-compatible store. Names of its elements are fixed and never nested in
// themselves, and keys of ours need no escapes, so that this is enough.

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name; null without one. */
export function valueIn(xml: string, name: string): string | null {
  for (const value of elementsIn(xml, name)) return value
  return null
}

/** What stands in each element of this name: text, or elements. */
export function valuesIn(xml: string, name: string): string[] {
  return [...elementsIn(xml, name)]
}

/** Reads the text once, whatever stands in it: a store could send elements that never end. */
function* elementsIn(xml: string, name: string): Generator<string> {
  const [opening, closing] = [`<${name}`, `</${name}>`]
  for (let at = xml.indexOf(opening); at >= 0; at = xml.indexOf(opening, at)) {
    at += opening.length
    if (!/[\s>]/.test(xml.charAt(at))) continue
    const start = xml.indexOf('>', at) + 1
    const end = start === 0 ? -1 : xml.indexOf(closing, start)
    if (end < 0) return
    const inner = xml.slice(start, end)
    yield inner.includes('<') ? inner : unescapeXml(inner)
    at = end + closing.length
  }
}

/** For text between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}
