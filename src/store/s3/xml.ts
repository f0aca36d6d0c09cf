// The few values that are read from the XML of an S3-compatible store. Names of its elements are fixed and
// never nested in themselves. Each text is read once, whatever it contains: a store could send elements that
// never end.

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

/** The text of the first element of this name; null without one. */
export function valueIn(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}(?:\\s[^<>]*)?>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity) ?? null
}

/** Escapes text for use between tags. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
