// Icons: a page refers to each drawing by name, and holds the drawings that it uses once, however often they appear.

import type { Html } from './html.ts'
import { ICON_FILES, type IconName } from './icon-files.ts'

/** Begins every reference to a drawing. */
const REFERENCE = '<use href="#icon-'

type Drawn = { reference: Html; symbol: string }

let drawings: ReadonlyMap<string, Drawn> | undefined

/** Draws all with the first page, because a start would wait for them. */
function drawingOf(name: string): Drawn | undefined {
  drawings ??= new Map(
    Object.entries(ICON_FILES).map(([name, file]) => [
      name,
      {
        reference: (
          <svg class="icon" aria-hidden="true">
            <use href={`#icon-${name}`} />
          </svg>
        ),
        symbol: symbolOf(name, file),
      },
    ]),
  )
  return drawings.get(name)
}

/** Hidden from screen readers: a text or the label of its button says the same. */
export function Icon({ name }: { name: IconName }) {
  return drawingOf(name)?.reference
}

/** The drawings of all icons to which a page refers, as one hidden element of it. */
export function drawingsFor(html: string): string {
  const used = new Set<string>()
  for (let at = html.indexOf(REFERENCE); at !== -1; at = html.indexOf(REFERENCE, at)) {
    at += REFERENCE.length
    used.add(html.slice(at, html.indexOf('"', at)))
  }
  let symbols = ''
  for (const name of used) symbols += drawingOf(name)?.symbol ?? ''
  return symbols === '' ? '' : `<svg hidden aria-hidden="true">${symbols}</svg>`
}

/** The drawing of a file as a named symbol, without its size and colours, which the style sheet sets. */
function symbolOf(name: string, file: string): string {
  const [, viewBox = '0 0 24 24'] = /viewBox="([\d ]+)"/.exec(file) ?? []
  const drawing = file
    .slice(file.indexOf('>', file.indexOf('<svg')) + 1, file.lastIndexOf('</svg>'))
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim()
  return `<symbol id="icon-${name}" viewBox="${viewBox}">${drawing}</symbol>`
}
