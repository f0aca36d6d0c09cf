// Safe names for received files.

import { expect, test } from 'bun:test'
import { numberedName, safeFilename, safeFilenames } from '../../src/text/safe-filename.ts'
import { workedMs } from '../support/effort.ts'

const linux = { platform: 'linux' }

test.each<[string, string]>([
  ['report.pdf', 'report.pdf'],
  ['with "quotes" é.bin', 'with "quotes" é.bin'],
  ['.bash_profile', 'bash_profile'],
  ['...ssh', 'ssh'],
  ['-rf', 'rf'],
  ['--output=x', 'output=x'],
  ['– x', 'x'],
  [' . -x', 'x'],
  ['a.txt:b.exe', 'a.txt_b.exe'],
  ['a:$DATA', 'a_$DATA'],
  ['x. . .', 'x'],
  ['x.exe \u00a0', 'x.exe'],
  ['photo\u202egpj.exe', 'photogpj.exe'],
  ['a\u200f\u061c\u200b\ufeff\u{e0041}.txt', 'a.txt'],
  ['\u3164\u115f\u{e0100}x', 'x'],
  ['a\u0000\u001b[2J\u009b', 'a[2J'],
  ['two\nlines\u2028here', 'two lines here'],
  [`photo.jpg${' '.repeat(200)}.exe`, 'photo.jpg .exe'],
  ['e\u0301', 'é'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Windows\\x.dll', 'x.dll'],
  ['~/.ssh/authorized_keys', 'authorized_keys'],
  ['\ud800x', '\ufffdx'],
])('%j becomes %j', (sent, name) => {
  expect(safeFilename(sent, linux)).toBe(name)
})

test.each(['', '.', '..', '...', '-', '/', '\\', 'a/', '\u200b', ' ', '\u202e.\u202c', '\u0000'])(
  '%j has no usable characters and becomes "file"',
  (sent) => {
    expect(safeFilename(sent, linux)).toBe('file')
  },
)

test.each([
  ...['CON', 'con', 'prn.txt', 'AUX.tar.gz', 'nul', 'NUL .txt', 'C\u200bON', '.con', 'con.', 'con '],
  ...['COM1', 'com9.log', 'COM\u00b9', 'com\u00b2.x', 'LPT\u00b3', 'lpt0', 'CONIN$', 'clock$'],
  ...['desktop.ini', 'Autorun.INF'],
])('the reserved name %j gets a prefix', (sent) => {
  expect(safeFilename(sent, linux)).toStartWith('_')
})

test.each(['console', 'com', 'com10', 'lpt.txt', 'nullable', 'my con.txt'])(
  '%j is not reserved and stays unchanged',
  (sent) => {
    expect(safeFilename(sent, linux)).toBe(sent)
  },
)

test('characters that Windows refuses are replaced on Windows', () => {
  expect(safeFilename('a<b>"c"|d?*.txt', { platform: 'win32' })).toBe('a_b__c__d__.txt')
})

test.each([
  'x'.repeat(300),
  `${'é'.repeat(300)}.pdf`,
  `${'😀'.repeat(100)}.tar`,
  `a.${'é'.repeat(200)}`,
  `${'a. '.repeat(200)}.txt`,
])('a long name is shortened to 255 bytes between characters and keeps its extension', (sent) => {
  const name = safeFilename(sent, linux)
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
  expect(Buffer.byteLength(numberedName(name, 123))).toBeLessThanOrEqual(255)
  expect(name.isWellFormed()).toBe(true)
  expect(name).not.toContain('\ufffd')
  if (/\.\w{3}$/.test(sent)) expect(name.slice(-4)).toBe(sent.slice(-4))
})

test('the names of one push differ even ignoring case and Unicode normalization', () => {
  const sent = ['A.txt', 'a.txt', '\u00e9', 'e\u0301', 'stra\u00dfe', 'STRASSE', 'a (2).txt', '', '..']
  const names = safeFilenames(sent, linux)
  expect(names[1]).toBe('a (2).txt')
  expect(names[6]).toBe('a (2) (2).txt')
  const folded = names.map((name) => name.normalize('NFKC').toUpperCase())
  expect(new Set(folded).size).toBe(sent.length)
})

test.each([
  ...['.', ' ', '-', '\ufffd', 'x', '😀', '/', '\u200b', 'a.'].map((run) => `x${run.repeat(300_000)}x.pdf`),
  `a${'\u0301\u0316'.repeat(150_000)}.pdf`,
])(
  'a name of hundreds of thousands of characters is shortened in linear time and keeps its extension (%#)',
  (sent) => {
    const began = workedMs()
    const name = safeFilename(sent, linux)
    expect(name).toMatch(/^[^.].*\.pdf$/)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    // Takes one or two on a quiet machine. Once, the dots alone took minutes.
    expect(workedMs() - began).toBeLessThan(1000)
  },
)

test('a thousand names that differ only in case are numbered in linear time', () => {
  const sent = Array.from({ length: 1000 }, (_, n) =>
    [...'abcdefghij'].map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
  )
  const names = safeFilenames(sent, linux)
  expect(names[999]).toBe(`${sent[999]} (1000)`)
})
