// The text log: one line per message, without characters that a terminal would interpret or that could fake a
// line.

import { expect, test } from 'bun:test'
import { createLog } from '../../src/operating/log.ts'

const FORGED = 'bad\n2026-11-22T00:00:00.000Z info all is well \x1b[2J\x07\u009b\u202e\r end'

function linesOf(write: (log: ReturnType<typeof createLog>) => void, format: 'text' | 'json' = 'text') {
  const written: string[] = []
  write(createLog({ format, now: () => 0, write: (line) => written.push(line) }))
  return written.join('\n').split('\n')
}

const obeyed = (text: string) => [...text].filter((mark) => /[\p{Cc}\p{Cf}]/u.test(mark))

test('a message stays on one line, whatever it quotes', () => {
  const lines = linesOf((log) => log.warn(FORGED))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toStartWith('1970-01-01T00:00:00.000Z warn bad 2026-11-22')
  expect(obeyed(lines.join(''))).toEqual([])
})

test('an error has one line at the margin, and its indented stack', () => {
  const lines = linesOf((log) => log.error({ err: new Error(FORGED) }, FORGED))
  expect(lines[1]).toStartWith('Error: bad')
  expect(lines[2]).toStartWith('    2026-11-22T00:00:00.000Z info all is well')
  for (const line of lines.slice(2)) expect(line).toStartWith('    ')
  expect(lines.some((line) => line.includes('log.test.ts'))).toBe(true)
  expect(obeyed(lines.join(''))).toEqual([])
})

test.each(['text', 'json'] as const)('an error is logged with its cause, as %s', (format) => {
  const err = new Error('The folder cannot be used', { cause: new TypeError('the disk is gone') })
  const said = linesOf((log) => log.error({ err, part: 'x' }, 'failed'), format).join('\n')
  for (const words of ['failed', 'The folder cannot be used', 'caused by: TypeError: the disk is gone'])
    expect(said).toContain(words)
})

test('a line of JSON contains the whole message, escaped', () => {
  const lines = linesOf((log) => log.error({ err: new Error(FORGED) }, FORGED), 'json')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: FORGED })
})
