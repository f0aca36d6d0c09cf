// `oncebox backup` at the command line: refusals before anything is written, and the report at the end.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { LocalServer } from '../../src/app/serving.ts'
import { readMembers } from '../support/backup.ts'
import { useLightScrypt } from '../support/light-scrypt.ts'
import { openTestStore } from '../support/store.ts'
import { createTrial } from './trial.ts'

let dataDir: string
let room: string

useLightScrypt()

beforeEach(async () => {
  const opened = await openTestStore()
  dataDir = opened.dataDir
  await opened.store.close()
  room = mkdtempSync(join(tmpdir(), 'oncebox-backup-'))
})

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true })
  rmSync(room, { recursive: true, force: true })
})

function createBackupTrial(given: Parameters<typeof createTrial>[0] = {}) {
  const trial = createTrial({ env: { ONCEBOX_DATA_DIR: dataDir, ONCEBOX_MIN_FREE_SPACE: '0' }, ...given })
  trial.shell.os.cwd = room
  return trial
}

test('without FILE, writes a dated file into the current folder and reports its content and how to check it', async () => {
  const trial = createBackupTrial()
  expect(await trial.run('backup')).toBe(0)
  expect(readdirSync(room)).toEqual(['oncebox-backup-1970-01-01T00-00-00Z.tar'])
  const [file] = readdirSync(room).map((name) => join(room, name))
  expect(trial.out).toHaveLength(4)
  expect(trial.out[0]).toMatch(
    /^\/.*oncebox-backup-1970-01-01T00-00-00Z.tar: a backup of \d+ KiB, not encrypted.$/,
  )
  expect(trial.out[1]).toStartWith('In it: 0 accounts, 0 pushes')
  expect(trial.out[1]).toContain('the instance key')
  expect(trial.out[2]).toStartWith('Not in it: the keys of pushes')
  expect(trial.out[3]).toBe(`Check it: oncebox backup verify ${file}`)
  expect(trial.err.join()).toContain(
    'warning: the instance key is in this backup, and the backup is not encrypted',
  )
})

test('without FILE, adds a backup to --backup-dir, encrypted as the settings say', async () => {
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const folder = join(room, 'b')
  const env = { ONCEBOX_DATA_DIR: dataDir, ONCEBOX_MIN_FREE_SPACE: '0', ONCEBOX_BACKUP_DIR: folder }
  const trial = createBackupTrial({ env: { ...env, ONCEBOX_BACKUP_RECIPIENT: recipient } })
  expect(await trial.run('backup')).toBe(0)
  const [name = ''] = readdirSync(folder)
  expect(name).toMatch(/^oncebox-backup-1970-01-01T00-00-00Z-\w{6}\.tar\.age$/)
  await readMembers(readFileSync(join(folder, name)), { identities: [identity] })
  expect(await trial.run('backup', 'elsewhere.tar')).toBe(0)
  expect(readdirSync(room).sort()).toEqual(['b', 'elsewhere.tar'])
  expect(await trial.run('backup')).toBe(0)
  expect(readdirSync(folder)).toHaveLength(2)
})

describe('without FILE beside a running server', () => {
  const serving = (settings: LocalServer['settings']): LocalServer => ({
    ...{ pid: 1, url: 'http://localhost:5100', socket: null, setupLink: null, settings },
    isUp: async () => true,
  })
  const noted = (values: Record<string, string>) =>
    Object.entries(values).map(([flag, value]) => ({ flag, value, from: `--${flag}` }))

  test('adds a backup to its --backup-dir, encrypted for all of its keys', async () => {
    const identities = await Promise.all([generateX25519Identity(), generateX25519Identity()])
    const recipients = await Promise.all(identities.map(identityToRecipient))
    const folder = join(room, 'of, the server')
    const trial = createBackupTrial()
    trial.state.serving = serving(
      noted({ 'backup-dir': folder, 'backup-keep': '1', 'backup-recipient': recipients.join(', ') }),
    )
    for (const _ of [1, 2]) expect(await trial.run('backup')).toBe(0)
    const sealed = readdirSync(folder).filter((name) => name.endsWith('.tar.age'))
    expect(sealed).toHaveLength(1)
    for (const identity of identities)
      await readMembers(readFileSync(join(folder, sealed[0] ?? '')), { identities: [identity] })
    expect(trial.err).toContain(`Using the settings of the running server: --backup-dir ${folder}`)
    expect(readdirSync(room)).toEqual(['of, the server'])
  })

  test('uses the current folder if the server makes no backups; a named FILE or folder takes precedence', async () => {
    const trial = createBackupTrial()
    trial.state.serving = serving([{ flag: 'backup-dir', value: 'none', from: 'default' }])
    expect(await trial.run('backup')).toBe(0)
    trial.state.serving = serving(noted({ 'backup-dir': join(room, 'server') }))
    expect(await trial.run('backup', 'x.tar')).toBe(0)
    expect(await trial.run('backup', '--backup-dir', join(room, 'own'))).toBe(0)
    expect(readdirSync(room).sort()).toEqual(['oncebox-backup-1970-01-01T00-00-00Z.tar', 'own', 'x.tar'])
  })

  test.each<[string, LocalServer['settings']]>([
    ['cannot be read', null],
    ['make no sense', noted({ 'backup-dir': '/mnt/b', 'backup-keep': 'x' })],
  ])('makes no backup when its settings %s, and names the remedy', async (_, settings) => {
    const trial = createBackupTrial()
    trial.state.serving = serving(settings)
    expect(await trial.run('backup')).toBe(1)
    expect(trial.err.at(-1)).toContain('name a FILE, or the folder of its backups with --backup-dir')
    expect(readdirSync(room)).toEqual([])
  })
})

test.each([
  [['--backup-keep', '3'], 'need --backup-dir'],
  [['x.tar', '--backup-dir', '/mnt/b'], 'FILE and --backup-dir: give only one of them'],
  [['--backup-dir', '/mnt/b', '--backup-keep', '0'], '--backup-keep'],
])('refuses %p before anything is written', async (args, problem) => {
  const trial = createBackupTrial()
  expect(await trial.run('backup', ...args)).toBe(2)
  expect(trial.err.join('\n')).toContain(problem)
  expect(readdirSync(room)).toEqual([])
})

test('a backup for a recipient is encrypted, without a warning', async () => {
  const trial = createBackupTrial()
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  expect(await trial.run('backup', 'b.age', '--recipient', recipient)).toBe(0)
  const { manifest } = await readMembers(readFileSync(join(room, 'b.age')), { identities: [identity] })
  expect(manifest.members.map(({ name }) => name)).toContain('instance.key')
  expect(trial.err).toEqual([])
})

test('asks for a passphrase twice, or reads it from a file', async () => {
  const asked = createBackupTrial({ answers: ['correct horse', 'correct horse'] })
  expect(await asked.run('backup', 'asked.age', '--passphrase')).toBe(0)
  expect(asked.err.slice(0, 2)).toEqual(['Passphrase of the backup', 'Again'])
  await readMembers(readFileSync(join(room, 'asked.age')), { passphrase: 'correct horse' })
  const differs = createBackupTrial({ answers: ['correct horse', 'another'] })
  expect(await differs.run('backup', 'no.age', '--passphrase')).toBe(1)
  const path = join(room, 'passphrase')
  writeFileSync(path, 'correct horse\n')
  const read = createBackupTrial()
  read.shell.readFile = (from) => readFileSync(from, 'utf8')
  expect(await read.run('backup', 'read.age', '--passphrase-file', path)).toBe(0)
  await readMembers(readFileSync(join(room, 'read.age')), { passphrase: 'correct horse' })
  expect(readdirSync(room).sort()).toEqual(['asked.age', 'passphrase', 'read.age'])
}, 600_000)

test('"-" streams to standard output, and reports on standard error', async () => {
  const trial = createBackupTrial()
  expect(await trial.run('backup', '-')).toBe(0)
  const { manifest } = await readMembers(Buffer.from(trial.out.join(''), 'latin1'))
  expect(manifest.program).toBe('oncebox')
  expect(trial.err.join('\n')).toContain('Check it where it arrived: oncebox backup verify FILE')
})

test('refuses to write a backup to a terminal', async () => {
  const trial = createBackupTrial({ isOutputTerminal: true })
  expect(await trial.run('backup', '-')).toBe(1)
  expect(trial.out).toEqual([])
  expect(trial.err.join()).toContain('name a FILE')
})

test('reports a reader that closes the pipe early', async () => {
  const trial = createBackupTrial()
  trial.shell.writeBytes = async () => {
    throw Object.assign(new Error('broken pipe'), { code: 'EPIPE' })
  }
  expect(await trial.run('backup', '-')).toBe(1)
  expect(trial.err.join()).toContain('what came out is not whole')
})

test('--json prints the report for programs', async () => {
  const trial = createBackupTrial()
  expect(await trial.run('backup', 'b.tar', '--json')).toBe(0)
  expect(JSON.parse(trial.out.join())).toMatchObject({
    ...{
      file: join(room, 'b.tar'),
      isSealed: false,
      settingsFrom: 'command line',
      key: 'included',
      ...{ leftOut: 0, pushes: 0, accounts: 0 },
    },
    manifest: { format: 1, program: 'oncebox' },
  })
})

test.each([
  [['--recipient', 'age1wrong'], '--recipient "age1wrong": must be a public key of age'],
  [['--recipient'], '--recipient: a value is missing, it must be a public key of age'],
  [['--recipient', 'AGE-SECRET-KEY-1SECRET'], '--recipient (hidden): must be a public key of age'],
  [['--passphrase', '--passphrase-file', '/dev/null'], 'give only one of them'],
  [['backups/'], 'FILE "backups/": must name a file, not a folder'],
  [['a.tar', 'b.tar'], 'unexpected argument "b.tar"'],
  [['--unknown'], 'unknown flag --unknown'],
])('%p is wrong usage', async (argv, problem) => {
  const trial = createBackupTrial()
  expect(await trial.run('backup', ...argv)).toBe(2)
  expect(trial.err.join('\n')).toContain(problem)
  expect(trial.err.join('\n')).not.toContain('SECRET')
  expect(readdirSync(room)).toEqual([])
})

test('an invalid setting of the server does not prevent a backup', async () => {
  const env = { ONCEBOX_DATA_DIR: dataDir, ONCEBOX_MIN_FREE_SPACE: '0', ONCEBOX_PORT: 'wrong' }
  expect(await createBackupTrial({ env }).run('backup')).toBe(0)
})
