// The settings of scheduled backups: age keys, and contradictions.

import { describe, expect, test } from 'bun:test'
import { ageRecipient } from '../../src/domain/age-recipient.ts'
import { readConfig } from '../../src/settings/fold.ts'

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
const SECRET = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX'

function read(flags: Record<string, string[]>) {
  const os = { env: {}, platform: 'linux' as const, home: '/home/ann', cwd: '/srv' }
  return readConfig({
    flags: { 'data-dir': ['/var/lib/oncebox'], ...flags },
    os,
    readFile: () => '',
  })
}

const problemsOf = (flags: Record<string, string[]>) => (read(flags).problems ?? []).join('\n')

describe('a public key of age', () => {
  test('is accepted with blanks around it', () => {
    expect(ageRecipient(` ${KEY}\n`)).toEqual({ value: KEY })
  })

  test.each([
    ['a typing error', KEY.replace('l3z', '13z')],
    ['a letter too few', KEY.slice(0, -1)],
    ['capital letters', KEY.toUpperCase()],
    ['a key of SSH', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW'],
    ['a key of a plugin', 'age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t'],
    ['nothing', ''],
  ])('is refused with %s', (_, text) => {
    expect(ageRecipient(text)).toMatchObject({ problem: expect.stringContaining('public key of age') })
  })

  test('may be repeated, and given in a list', () => {
    expect(
      read({ 'backup-dir': ['/mnt/b'], 'backup-recipient': [`${KEY},${KEY}`, KEY] }).config?.backupRecipients,
    ).toEqual([...[KEY, KEY, KEY]])
  })

  test('must not be a secret key, which is refused without repeating it', () => {
    const problems = problemsOf({ 'backup-dir': ['/mnt/b'], 'backup-recipient': [SECRET] })
    expect(problems).toContain('--backup-recipient (hidden): must be a public key of age')
    expect(problems).not.toContain('GFPYYS')
  })
})

describe('settings that make no sense are refused:', () => {
  test.each([[{ 'backup-every': ['12h'] }], [{ 'backup-keep': ['3'] }], [{ 'backup-recipient': [KEY] }]])(
    '%p without a folder, because it would seem that there are backups',
    (flags) => {
      expect(problemsOf(flags)).toContain('need --backup-dir')
    },
  )

  test.each(['/var/lib/oncebox', '/var/lib/oncebox/backups', '/var/lib/../lib/oncebox/..b'])(
    'a folder in the data folder (%s)',
    (folder) => {
      expect(problemsOf({ 'backup-dir': [folder] })).toContain('must not be in the data folder')
    },
  )

  test.each(['0', '1001', '-1', 'all'])('to keep %s', (keep) => {
    expect(problemsOf({ 'backup-dir': ['/mnt/b'], 'backup-keep': [keep] })).toContain('--backup-keep')
  })
})

test.each(['/var/lib/oncebox-backups', '/var/lib', '/mnt/b'])(
  'a folder beside the data is taken: %s',
  (folder) => {
    expect(read({ 'backup-dir': [folder] }).config).toMatchObject({
      backupDir: folder,
      backupEvery: 86_400_000,
      backupKeep: 7,
    })
  },
)
