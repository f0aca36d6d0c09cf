// Derives the colours of buttons and links from the brand colour. Refuses a colour that is unreadable.

/** Red, green and blue, each from 0 to 255. */
type Color = readonly [number, number, number]

/** Colours as `#rrggbb`. */
export type Shades = { accent: string; strong: string; ground: string; onAccent: string }

type BrandColors = { light: Shades; dark: Shades }

/** The least contrast between text and its background (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5

/** The light backgrounds of text in the accent colour, as in the style sheet. */
export const GROUNDS = {
  light: { sunken: '#efece6', ground: '#f7f5f1', surface: '#ffffff' },
  dark: { sunken: '#0d1014', ground: '#13161b', surface: '#1b1f26' },
} as const

const BLACK: Color = [0, 0, 0]
const WHITE: Color = [255, 255, 255]

/**
 * Parses `#24539b`, `#25a`, and both without `#`, which begins a comment in some files. Returns `#rrggbb`;
 * null for anything else.
 */
export function parseColor(text: string): string | null {
  const [, digits] = /^#?([\da-f]{3}|[\da-f]{6})$/i.exec(text.trim()) ?? []
  return digits === undefined ? null : Bun.color(`#${digits}`, 'hex')
}

/**
 * Returns null for a colour that is readable on every light background; otherwise its contrast, and a darker
 * one that is readable.
 */
export function findColorProblem(hex: string): { contrast: number; needed: number; better: string } | null {
  const grounds = Object.values(GROUNDS.light).map(colorOf)
  const color = colorOf(hex)
  const contrast = leastContrast(color, grounds)
  if (contrast >= MIN_CONTRAST) return null
  return { contrast, needed: MIN_CONTRAST, better: hexOf(makeReadable(color, grounds, BLACK)) }
}

/**
 * Returns the colours for light and dark pages. `hex` must be readable on light backgrounds; for dark ones it
 * is lightened until it is readable there too.
 */
export function colorsOf(hex: string): BrandColors {
  const light = colorOf(hex)
  const dark = makeReadable(light, Object.values(GROUNDS.dark).map(colorOf), WHITE)
  return {
    light: {
      accent: hex,
      strong: hexOf(mix(light, BLACK, 0.25)),
      ground: hexOf(mix(WHITE, light, 0.1)),
      onAccent: hexOf(WHITE),
    },
    dark: {
      accent: hexOf(dark),
      strong: hexOf(mix(dark, WHITE, 0.35)),
      ground: hexOf(mix(colorOf(GROUNDS.dark.surface), dark, 0.1)),
      onAccent: GROUNDS.dark.sunken,
    },
  }
}

function makeReadable(color: Color, grounds: readonly Color[], end: Color): Color {
  for (let share = 0; share < 1; share += 0.01) {
    const mixed = mix(color, end, share)
    if (leastContrast(mixed, grounds) >= MIN_CONTRAST) return mixed
  }
  return end
}

function leastContrast(color: Color, grounds: readonly Color[]): number {
  return Math.min(...grounds.map((ground) => contrastOf(color, ground)))
}

/** Returns the contrast ratio of WCAG 2.2, from 1 to 21. */
function contrastOf(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns the relative luminance of WCAG 2.2. */
function luminanceOf([red, green, blue]: Color): number {
  const linear = (value: number) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function mix(from: Color, to: Color, share: number): Color {
  const between = (a: number, b: number) => Math.round(a + (b - a) * share)
  return [between(from[0], to[0]), between(from[1], to[1]), between(from[2], to[2])]
}

function colorOf(hex: string): Color {
  const value = Number.parseInt(hex.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

function hexOf([red, green, blue]: Color): string {
  return `#${((red << 16) | (green << 8) | blue).toString(16).padStart(6, '0')}`
}
