// An operator's names, texts and colours: refusals and their messages.

import { expect, test } from 'bun:test'
import { brandColor, plainText } from '../../src/settings/brand-parsers.ts'

const os = { env: {}, platform: 'linux', home: '/home/ann', cwd: '/srv' } as const

test('a text must be one line of plain text', () => {
  const parse = (text: string) => plainText(10)(text, os)
  expect(parse(' Ärzte & Co ')).toEqual({ value: 'Ärzte & Co' })
  expect(parse('1 < 2 > 1')).toEqual({ value: '1 < 2 > 1' })
  expect(parse('😀'.repeat(10))).toHaveProperty('value')
  expect(parse('x'.repeat(11))).toEqual({ problem: 'must have at most 10 characters; it has 11' })
  expect(parse('  ')).toEqual({ problem: 'must not be empty' })
  for (const hidden of ['a\nb', 'a\u0000', '\u202eab', 'a\u2066'])
    expect(parse(hidden)).toEqual({ problem: 'must be one line without invisible characters' })
  for (const html of ['<b>x</b>', 'a</p>', '<!-- -->', '<svg'])
    expect(parse(html)).toEqual({ problem: 'must be plain text, because the pages do not render HTML' })
})

test('a colour that is hard to read is refused with its contrast and a better one', () => {
  expect(brandColor('#24539B')).toEqual({ value: '#24539b' })
  expect(brandColor('rebeccapurple')).toEqual({ problem: 'must be a colour such as #24539b' })
  const refused = brandColor('#ffcc00')
  const found = /at least 4\.5:1 with the light pages; it has ([\d.]+):1, and (#[\da-f]{6}) would do$/.exec(
    'problem' in refused ? refused.problem : '',
  )
  expect(Number(found?.[1])).toBeLessThan(1.5)
  expect(brandColor(found?.[2] ?? '')).toHaveProperty('value')
})
