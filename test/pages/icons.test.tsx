// Icons: each drawing once a page, and only those that the page uses.

import { expect, test } from 'bun:test'
import { ICON_NAMES } from '../../src/pages/frame/icon-files.ts'
import { drawingsFor, Icon } from '../../src/pages/frame/icons.tsx'
import { renderPage } from '../../src/pages/frame/page.tsx'

const page = (
  <html lang="en">
    <body>
      <Icon name="eye" />
      <Icon name="eye" />
      <Icon name="copy" />
    </body>
  </html>
)

test('a page contains each drawing that it uses once, before its end', () => {
  const html = renderPage(page)
  expect(html.match(/<symbol id="icon-eye"/g)).toHaveLength(1)
  expect(html.match(/<symbol /g)).toHaveLength(2)
  expect(html).toEndWith('</svg></body></html>')
})

test('a page without icons holds no drawings', () => {
  expect(drawingsFor('<p>icon-eye</p>')).toBe('')
})

test('no drawing contains a script, a style or a URL', () => {
  for (const name of ICON_NAMES) {
    const drawing = drawingsFor(`<use href="#icon-${name}"`)
    expect(drawing).toStartWith(`<svg hidden aria-hidden="true"><symbol id="icon-${name}" viewBox="0 0 `)
    expect(drawing).toEndWith('></symbol></svg>')
    expect(drawing).not.toMatch(/script|style|https?:|url\(|\son\w+=/)
  }
})
