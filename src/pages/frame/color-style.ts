// The style rules for the operator's colour.

import { colorsOf, type Shades } from '../../text/brand-color.ts'

/** Returns the rules that replace the accent colours by those of `color`, a readable `#rrggbb`. */
export function colorStyle(color: string): string {
  const { light, dark } = colorsOf(color)
  return `:root{${tokensOf(light)}}\n@media (prefers-color-scheme: dark){:root{${tokensOf(dark)}}}\n`
}

function tokensOf({ accent, strong, ground, onAccent }: Shades): string {
  return `--accent:${accent};--accent-strong:${strong};--accent-ground:${ground};--on-accent:${onAccent}`
}
