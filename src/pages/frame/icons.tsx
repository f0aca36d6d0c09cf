// Icons. A page contains each drawing that it uses once and refers to it by name.

import type { Html } from './html.ts'
import { drawSymbols } from './icon-files.ts' with { type: 'macro' }
import type { IconName } from './icon-files.ts'

/** The start of every reference to a drawing. */
const REFERENCE = '<use href="#icon-'

const SYMBOLS: ReadonlyMap<string, string> = new Map(Object.entries(drawSymbols()))

const ICONS: ReadonlyMap<string, Html> = new Map(
  [...SYMBOLS.keys()].map((name) => [
    name,
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>,
  ]),
)

/** An icon, hidden from screen readers, because a text or label beside it says the same. */
export function Icon({ name }: { name: IconName }) {
  return ICONS.get(name)
}

/** Returns the drawings of all icons that the page refers to, as one hidden element. */
export function drawingsFor(html: string): string {
  const used = new Set<string>()
  for (let at = html.indexOf(REFERENCE); at !== -1; at = html.indexOf(REFERENCE, at)) {
    at += REFERENCE.length
    used.add(html.slice(at, html.indexOf('"', at)))
  }
  let symbols = ''
  for (const name of used) symbols += SYMBOLS.get(name) ?? ''
  return symbols === '' ? '' : `<svg hidden aria-hidden="true">${symbols}</svg>`
}
