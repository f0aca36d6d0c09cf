// Reads single values from the XML of an S3-compatible store. Its elements have fixed names and never contain
// one of the same name. Reads each text once, in linear time, because a store could send elements that never
// end.

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

/** Returns the text of the first element of this name; null if there is none. */
export function valueIn(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}(?:\\s[^<>]*)?>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity) ?? null
}
