// Which settings of the former server a restore lists: those that the new server would need.

import { expect, test } from 'bun:test'
import { changedSettings } from '../../src/backup/restore.ts'

const setting = (flag: string, value: string, from = 'flag') => ({ flag, value, from })

test('changed settings are named, except those of the machine or of a single start', () => {
  const settings = [
    setting('base-url', 'https://once.example'),
    setting('port', '5100', 'default'),
    setting('data-dir', '/old'),
    setting('key-file', '/old/key'),
    setting('accept-move', 'true'),
    setting('accept-clock', 'true'),
  ]
  expect(changedSettings(JSON.stringify({ settings }))).toEqual([
    { flag: 'base-url', value: 'https://once.example' },
  ])
})

test.each(['', 'null', '[]', '{"settings": 1}', '{"settings": [null, {"flag": "--x"}]}'])(
  'settings written as %j count as unchanged',
  (text) => {
    expect(changedSettings(text)).toEqual([])
  },
)
