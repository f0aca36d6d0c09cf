// What a database server says, or a row holds that others may have written, for the log and for people: one short line that no terminal obeys.

import { printableLine } from '../../../domain/printable.ts'

/** Messages of PostgreSQL, and reasons that nodes leave for each other, are shorter. */
const MOST_CHARACTERS = 600

export function serverText(text: string): string {
  return printableLine(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text)
}
