// The brand colour: readable on every background of the style sheet, light and dark, or refused.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import tokens from '../../src/pages/frame/styles/tokens.css' with { type: 'text' }
import { colorsOf, findColorProblem, GROUNDS, parseColor } from '../../src/text/brand-color.ts'

const colors = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

/** Returns the contrast ratio of WCAG 2.2, from 1 to 21, of two colours as `#rrggbb`. */
function contrastBetween(...pair: [string, string]): number {
  const luminance = (hex: string) => {
    const linear = (byte: number) =>
      byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4
    const [red = 0, green = 0, blue = 0] = [...Buffer.from(hex.slice(1), 'hex')].map(linear)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [darker = 0, lighter = 0] = pair.map(luminance).sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

test('a refused colour comes with its contrast by WCAG', () => {
  for (const color of ['#777777', '#f5c518', '#ffffff']) {
    const grounds = Object.values(GROUNDS.light).map((ground) => contrastBetween(color, ground))
    expect(findColorProblem(color)?.contrast).toBeCloseTo(Math.min(...grounds), 6)
  }
})

test('a colour is parsed with and without its sign, long and short', () => {
  const read = ['#24539B', '24539b', ' #25a ', '25a', '#2453', 'blue', '', '#24539b00', 'url(#a)'].map(
    parseColor,
  )
  expect(read).toEqual(['#24539b', '#24539b', '#2255aa', '#2255aa', null, null, null, null, null])
})

test('the backgrounds equal those of the style sheet', () => {
  const [light = '', dark = ''] = tokens.split('@media (prefers-color-scheme: dark)')
  for (const [sheet, grounds] of [
    [light, GROUNDS.light],
    [dark, GROUNDS.dark],
  ] as const)
    for (const [name, color] of Object.entries(grounds)) expect(sheet).toContain(`--${name}: ${color};`)
})

test('the message about a refused colour proposes an accepted one', () => {
  fc.assert(
    fc.property(colors, (color) => {
      const problem = findColorProblem(color)
      if (problem === null) return
      expect(problem.contrast).toBeLessThan(4.5)
      expect(findColorProblem(problem.better)).toBeNull()
    }),
  )
})

test('every accepted colour is readable in light and in dark, as text and as background', () => {
  fc.assert(
    fc.property(colors, (given) => {
      const color = findColorProblem(given)?.better ?? given
      const { light, dark } = colorsOf(color)
      expect(light.accent).toBe(color)
      for (const [{ accent, strong, onAccent }, grounds] of [
        [light, GROUNDS.light],
        [dark, GROUNDS.dark],
      ] as const) {
        for (const text of [accent, strong])
          for (const behind of [...Object.values(grounds), onAccent])
            expect(contrastBetween(text, behind)).toBeGreaterThanOrEqual(4.5)
      }
    }),
  )
})

test('accent text is readable on the background mixed from the accent', () => {
  fc.assert(
    fc.property(colors, (given) => {
      const { light, dark } = colorsOf(findColorProblem(given)?.better ?? given)
      for (const { strong, ground } of [light, dark])
        expect(contrastBetween(strong, ground)).toBeGreaterThanOrEqual(4.5)
    }),
  )
})
