// Lists on terminals of every width.

import { describe, expect, test } from 'bun:test'
import { alignColumns, fitColumns, separateByTabs } from '../../src/cli/table.ts'

const HEADER = ['CREATED', 'KIND', 'NAME', 'LEFT', 'LINK']
const TOKEN = '7k3m9qx2vn4t8bw5hj6r0yzacd'
const LINK = `http://localhost:5100/p/${TOKEN}/r`
const ROWS = [
  ['2026-11-20 22:47', 'text', 'to Bob', '4 views, 7 days', LINK],
  ['2026-11-20 22:47', 'file', '四半期の報告書と契約書の写し'.repeat(3), '100 views, 90 days', LINK],
  ['2026-11-20 22:47', 'qr', '👩‍👩‍👧'.repeat(40), '1 view, 1 day', LINK],
]
const fitting = { stretch: 2, shortLast: [TOKEN, TOKEN, TOKEN] }
const at = (width: number) => fitColumns(HEADER, ROWS, { ...fitting, width })

describe.each([40, 50, 56, 60, 72, 80, 100, 120, 160, 200, 300])('at %d columns', (width) => {
  test('no line is wider than the terminal', () => {
    for (const line of at(width)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
  })
  test('each row shows enough of the link to open the push', () => {
    const text = at(width).join('\n')
    expect(text.split(TOKEN)).toHaveLength(ROWS.length + 1)
    if (width >= LINK.length + 2) expect(text.split(LINK)).toHaveLength(ROWS.length + 1)
    expect(text).toContain('to Bob')
    expect(text).toContain('100 views, 90 days')
  })
})

test('a wide terminal gets one line a push, with aligned columns', () => {
  const lines = at(300)
  expect(lines).toHaveLength(4)
  const column = (line: string) => Bun.stringWidth(line.slice(0, line.indexOf('http')))
  expect(new Set(lines.slice(1).map(column)).size).toBe(1)
})

test('a terminal of 80 columns gets the link on a line of its own', () => {
  expect(at(80).slice(0, 3)).toEqual([
    expect.stringMatching(/^CREATED +KIND +NAME +LEFT$/),
    expect.stringMatching(/^2026-11-20 22:47 {2}text {2}to Bob +4 views, 7 days$/),
    `  ${LINK}`,
  ])
})

test('programs get everything, separated by tabs', () => {
  expect(separateByTabs(HEADER, ROWS)[1]?.split('\t')).toEqual(ROWS[0] ?? [])
})

test('aligned columns count visible characters, not code units', () => {
  expect(alignColumns(['NAME', 'LEFT'], ['日本', '1'], ['ab', '2'])).toEqual([
    'NAME  LEFT',
    '日本  1',
    'ab    2',
  ])
})
