// Icons: a page refers to each drawing by name, and holds the drawings that it uses once, however often they appear.

import { ICON_FILES, type IconName } from './icon-files.ts'

const PREFIX = 'icon-'

/** Hidden from screen readers: a text or the label of its button says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#${PREFIX}${name}`} />
    </svg>
  )
}

/** The drawings of all icons to which a page refers, as one hidden element of it. */
export function drawingsFor(html: string): string {
  const used = new Set([...html.matchAll(/<use href="#icon-([a-z\d-]+)/g)].map(([, name = '']) => name))
  const drawings = Object.entries(ICON_FILES).filter(([name]) => used.has(name))
  if (drawings.length === 0) return ''
  const symbols = drawings.map(([name, file]) => symbolOf(name, file))
  return `<svg hidden aria-hidden="true">${symbols.join('')}</svg>`
}

const symbols = new Map<string, string>()

/** The drawing of a file as a named symbol, without its size and colours, which the style sheet sets. */
function symbolOf(name: string, file: string): string {
  const known = symbols.get(name)
  if (known !== undefined) return known
  const [, viewBox = '0 0 24 24'] = /viewBox="([\d ]+)"/.exec(file) ?? []
  const drawing = file
    .slice(file.indexOf('>', file.indexOf('<svg')) + 1, file.lastIndexOf('</svg>'))
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .trim()
  const symbol = `<symbol id="${PREFIX}${name}" viewBox="${viewBox}">${drawing}</symbol>`
  symbols.set(name, symbol)
  return symbol
}
