// The style sheet of the pages, with the operator's own colour.

import { colorsOf, type Shades } from '../../text/brand-color.ts'
import { joinStyles } from './browser-bundles.ts' with { type: 'macro' }

export const style = joinStyles()

/**
 * The rules that put the operator's colour, `#rrggbb` and readable, in place of the accent of the style
 * sheet.
 */
export function colorStyle(color: string): string {
  const { light, dark } = colorsOf(color)
  return `:root{${tokensOf(light)}}\n@media (prefers-color-scheme: dark){:root{${tokensOf(dark)}}}\n`
}

function tokensOf({ accent, strong, ground, onAccent }: Shades): string {
  return `--accent:${accent};--accent-strong:${strong};--accent-ground:${ground};--on-accent:${onAccent}`
}
