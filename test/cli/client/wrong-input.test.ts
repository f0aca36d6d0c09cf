// Wrong input to the client commands, which is reported before any request.

import { describe, expect, test } from 'bun:test'
import { useClients } from './clients.ts'

const { tryOut, push } = useClients()

describe('wrong input is reported before any request', () => {
  test.each<[string[], string]>([
    [['get'], 'LINK-OR-TOKEN is missing'],
    [
      ['get', 'what is this'],
      'LINK-OR-TOKEN: must be a link such as https://once.example/p/7k3m9q…, or its token',
    ],
    [['push', 'x', 'y'], 'unexpected argument "y"'],
    [['push', 'x', '--kind', 'secret'], '--kind "secret": must be text or file or url or qr'],
    [['push', 'x', '--days', '0'], '--days "0": must be a whole number from 1 to 3650'],
    [['push', 'x', '--duration', '2h'], expect.stringContaining('--duration "2h": must be one of 15m, 30m')],
    [['push', 'x', '--views'], '--views: a value is missing, it must be a whole number from 1 to 1000000'],
    [
      ['push', '--file', '/no/such/file'],
      '--file "/no/such/file": cannot be read: there is no such file or folder',
    ],
    [['push', '--file', '/dev/null'], '--file "/dev/null": is not a regular file; pipe it in with --file -'],
    [['push', '--file', '-'], '--file -: add --name, which also names the file'],
    [['push', '-', '--file', '-', '--name', 'x'], '--file -: standard input can be read only once'],
    [['push', '--viws', '1'], 'unknown flag --viws: did you mean --views?'],
    [['edit', 'abcdefgh'], 'nothing to change: add --name, --note, --days, --views, --duration'],
    [['edit', 'abcdefgh', '--name'], '--name: a value is missing, it may be "", which removes the name'],
    [
      ['edit', 'abcdefgh', '--note', '--views', '1'],
      '--note: a value is missing, it may be "", which removes the note',
    ],
    [['edit', 'abcdefgh', '--days', '0'], '--days "0": must be a whole number from 1 to 3650'],
    [['list', '--expird'], 'unknown flag --expird: did you mean --expired?'],
    [
      ['list', '--cacert', '/no/such/file'],
      '--cacert "/no/such/file": cannot be read: there is no such file or folder',
    ],
    [['list', '--cacert', '/dev/null'], '--cacert "/dev/null": must hold certificates in PEM or DER'],
    [['push', '--file', '/tmp'], '--file "/tmp": is a folder; pack it into one file first'],
    [['list', '--page', '201'], '--page "201": must be a whole number from 1 to 200'],
    [['list', '--server', 'ftp://nas'], expect.stringContaining('--server "ftp://nas": must be an http')],
    [['list', '--server', 'a b'], expect.stringContaining('--server "a b": must be an http')],
    [['login'], 'URL is missing'],
    [['completion', 'tcsh'], '"tcsh": must be one of bash, zsh, fish, powershell'],
  ])('%p', async (argv, problem) => {
    const trial = tryOut()
    expect(await trial.run(...argv)).toBe(2)
    expect(trial.err[0]?.replace(/^oncebox: /, '')).toEqual(problem)
  })

  test('a blank text is refused', async () => {
    const trial = tryOut({ input: ' \n' })
    expect(await trial.run('push')).toBe(1)
    expect(trial.err).toEqual(['oncebox: There is nothing to send: the text is blank.'])
  })

  test('the message for a text that is too large names the limit of a text', async () => {
    const trial = tryOut({ input: 'x'.repeat(12_000_000) })
    expect(await trial.run('push')).toBe(1)
    expect(trial.err[0]).toMatch(/a text 1048576 of them \(--max-payload-bytes of the server raises this\)/)
  })

  test('the message for a field that the server refuses names the flag', async () => {
    const trial = tryOut({ input: 'x' })
    expect(await trial.run('push', '--days', '200', '--views', '900')).toBe(1)
    expect(trial.err).toEqual([
      'oncebox: --days must be between 1 and 90. --views must be between 1 and 100.',
    ])
    const link = tryOut({ input: 'no link' })
    expect(await link.run('push', '--kind', 'url')).toBe(1)
    expect(link.err[0]).toStartWith('oncebox: The text ')
  })

  test('the message for an unreadable file names the flag, without error codes', async () => {
    const link = await push(tryOut({ input: 'x' }))
    for (const argv of [['push'], ['get', link]]) {
      const trial = tryOut({ input: 'x' })
      expect(await trial.run(...argv, '--passphrase-file', '/no/such/file', '--cacert', '/none')).toBe(2)
      expect(trial.err).toEqual([
        'oncebox: 2 problems',
        '  --passphrase-file "/no/such/file": cannot be read: there is no such file or folder',
        expect.stringContaining('--cacert "/none"'),
        `See "oncebox ${argv[0]} --help".`,
      ])
    }
  })
})
