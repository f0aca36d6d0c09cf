// The rules that put the operator's colour in place of the accent of the style sheet.

import { colorsOf, type Shades } from '../../../domain/brand-color.ts'

/** `color` is `#rrggbb`, and readable. */
export function colorStyle(color: string): string {
  const { light, dark } = colorsOf(color)
  return `:root{${tokens(light)}}\n@media (prefers-color-scheme: dark){:root{${tokens(dark)}}}\n`
}

function tokens({ accent, strong, ground, onAccent }: Shades): string {
  return `--accent:${accent};--accent-strong:${strong};--accent-ground:${ground};--on-accent:${onAccent}`
}
