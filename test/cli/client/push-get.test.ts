// `oncebox push` and `oncebox get` with texts.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import decodeQr from 'qr/decode.js'
import { drawQr } from '../../../src/cli/qr.ts'
import { createTrial } from '../trial.ts'
import { useClients } from './clients.ts'

const { path, tryOut, signedIn, push, get, place } = useClients()

describe('push and get', () => {
  test.each<[string, string, string]>([
    ['a line, without its line break', 'hunter2\n', 'hunter2'],
    ['a line with the line break of Windows', 'hunter2\r\n', 'hunter2'],
    ['several lines, unchanged', 'one\r\ntwo\n', 'one\r\ntwo\n'],
    ['a line without a line break', '  spaced  ', '  spaced  '],
    ['characters of every kind', '\ufeffé😀\u202e\u0000x', '\ufeffé😀\u202e\u0000x'],
  ])('%s', async (_, input, expected) => {
    const link = await push(tryOut({ input }))
    expect(link).toMatch(/\/p\/[0-9a-z]{26}\/r$/)
    expect(await get(link)).toEqual({ code: 0, out: expected, err: ['Views left: 4.'] })
  })

  test('a text from an argument, even if it looks like a flag', async () => {
    const link = await push(tryOut(), '--views', '1', '--', '--secret')
    expect(await get(link)).toEqual({ code: 0, out: '--secret', err: ['This was the last view.'] })
    expect(await get(link)).toMatchObject({ code: 3, err: ['oncebox: This push has expired.'] })
  })

  test('every flag is sent', async () => {
    writeFileSync(path('pass'), 'sesame\n')
    const trial = signedIn({ input: 'x' })
    trial.shell.readFile = (file) => readFileSync(file, 'utf8')
    const flags = ['--views=2', '--duration', '1h', '--name', 'N', '--note', 'n', '--kind', 'qr']
    const more = ['--retrieval-step', 'false', '--deletable-by-viewer=no', '--passphrase-file', path('pass')]
    expect(await trial.run('push', ...flags, ...more, '--json')).toBe(0)
    expect(JSON.parse(trial.out.join(''))).toMatchObject({
      ...{ kind: 'qr', name: 'N', note: 'n', expire_after_views: 2, expire_after_days: 1 },
      ...{ retrieval_step: false, deletable_by_viewer: false, passphrase_required: true },
    })
    expect(trial.err[0]).toMatch(
      /^It expires after 2 views or on \d{4}-\d\d-\d\d \d\d:\d\d, whichever comes first\.$/,
    )
  })

  test('push asks for a new passphrase twice, and get asks until it is right', async () => {
    const link = await push(tryOut({ input: 'x', answers: ['sesame', 'sesame'] }), '--passphrase')
    const trial = tryOut({ answers: ['wrong', 'sesame'] })
    expect(await trial.run('get', link)).toBe(0)
    expect(trial.out).toEqual(['x'])
    expect(trial.err).toEqual([
      'This push needs a passphrase.',
      'Passphrase',
      'The passphrase is wrong.',
      'Passphrase',
      'Views left: 4.',
    ])
    expect(await get(link)).toMatchObject({ code: 4, err: ['oncebox: This push needs a passphrase.'] })
  })

  test('two different passphrases create nothing', async () => {
    const trial = tryOut({ input: 'x', answers: ['sesame', 'sesam'] })
    expect(await trial.run('push', '--passphrase')).toBe(1)
    expect(trial.out).toEqual([])
  })

  test('a text is written to a new file, and never overwrites one', async () => {
    const link = await push(tryOut({ input: 'kept' }))
    expect(await get(link, '--output', path('note.txt'))).toMatchObject({ code: 0, out: '' })
    expect(readFileSync(path('note.txt'), 'utf8')).toBe('kept')
    expect(statSync(path('note.txt')).mode & 0o77).toBe(0)
    const refused = await get(link, '--output', path('note.txt'))
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.err[0]).toContain('already exists')
    const nowhere = await get(link, '--output', path('note.txt/x'))
    expect(nowhere.code).toBe(2)
    expect(nowhere.err[0]).toContain('note.txt is not a folder')
    symlinkSync(path('gone'), path('dangling'))
    expect((await get(link, '--output', path('dangling'))).code).toBe(2)
    // No refusal was counted as a view.
    expect((await get(link)).err).toEqual(['Views left: 3.'])
  })

  test('missing folders are created, and a text in a folder gets a new file', async () => {
    const link = await push(tryOut({ input: 'kept' }))
    expect((await get(link, '--output', path('made/here/note.txt'))).code).toBe(0)
    expect(readFileSync(path('made/here/note.txt'), 'utf8')).toBe('kept')
    for (const output of ['made', 'made/', 'new/folder/']) {
      expect(await get(link, '--output', path(output))).toMatchObject({ code: 0, out: '' })
    }
    expect(readdirSync(path('made')).sort()).toEqual(['here', 'push (2).txt', 'push.txt'])
    expect(readFileSync(path('new/folder/push.txt'), 'utf8')).toBe('kept')
    expect(statSync(path('new/folder/push.txt')).mode & 0o77).toBe(0)
  })

  test('links and servers work without a scheme and in capitals', async () => {
    const link = await push(tryOut({ input: 'x' }))
    expect(await get(link.replace('http://', ''))).toMatchObject({ code: 0, out: 'x' })
    expect(await get(link.toUpperCase())).toMatchObject({ code: 0, out: 'x' })
    const trial = createTrial({ home: place.folder, input: 'x' })
    expect(await trial.run('push', '--server', place.server.url.replace('http://', ''))).toBe(0)
  })

  test('a text that is too long for a QR code is still printed', async () => {
    const text = 'x'.repeat(5000)
    const received = await get(await push(tryOut({ input: text })), '--qr')
    expect(received).toMatchObject({ code: 0, out: text })
    expect(received.err.at(-1)).toContain('too long for a QR code')
  })

  test('control characters are not sent to a terminal', async () => {
    const link = await push(tryOut({ input: '\u001b[2Jx\u202ey\n' }))
    const trial = tryOut({ isOutputTerminal: true })
    expect(await trial.run('get', link)).toBe(0)
    expect(trial.out).toEqual(['␛[2Jx�y\n'])
    expect(trial.err.at(-1)).toContain('shown as signs')
  })

  test.each(['\u202e', '\u2066'])('a terminal gets a warning about the direction mark %j', async (mark) => {
    const link = await push(tryOut({ input: `rm ${mark}x` }))
    const trial = tryOut({ isOutputTerminal: true })
    await trial.run('get', link)
    expect(trial.err.join('\n')).toContain('change the direction of reading')
    const other = tryOut({ isOutputTerminal: true })
    await other.run('get', await push(tryOut({ input: 'rm \u001bx' })))
    expect(other.err.join('\n')).not.toContain('direction')
  })
})

test('the QR code on the terminal contains the link', () => {
  const link = 'http://192.168.1.20:5100/p/7k3m9qx2vn4t8bw5hj6r0yzacd/r'
  const rows = drawQr(link)
    .split('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
    .map((line) => line.replace(/\u001b\[[\d;]*m/g, ''))
    .flatMap((line) => [
      [...line].map((block) => !'█▀'.includes(block)),
      [...line].map((block) => !'█▄'.includes(block)),
    ])
  const scale = 4
  const width = (rows[0]?.length ?? 0) * scale
  const height = rows.length * scale
  const data = new Uint8Array(width * height * 4).fill(255)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (rows[Math.floor(y / scale)]?.[Math.floor(x / scale)])
        data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  expect(decodeQr({ width, height, data })).toBe(link)
})
