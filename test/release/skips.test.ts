// The table of skipped tests at the end of `npm test`.

import { expect, test } from 'bun:test'
import { createSkips } from '../../scripts/skips.ts'

test('a skipped test counts for every program that it needs; a skip for another reason is listed by name', () => {
  const skips = createSkips()
  for (const line of [
    '(pass) a name with (skip) in it [needs tar] [0.10ms]',
    '(skip) a browser [needs chromium, certutil] > trusts it',
    '\u001b[33m»\u001b[0m a browser [needs chromium, certutil] > trusts it [0.02ms]',
    '(skip) in a browser [needs chromium] > opens',
    '(skip) only on Windows',
  ])
    skips.note(line)
  expect(skips.table().split('\n').slice(2)).toEqual([
    '  program           tests  package',
    '  certutil              1  libnss3-tools',
    '  chromium              2  chromium-headless-shell',
    '',
    'Skipped on a machine such as this one:',
    '  only on Windows',
  ])
  expect(createSkips().table()).toBe('\nNo test was skipped.')
})
