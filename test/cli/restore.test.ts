// `oncebox restore`: its questions and output, and that it asks before it changes anything.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alterDatabase } from '../support/damage.ts'
import { startInstance } from '../support/instance.ts'
import { useLightScrypt } from '../support/light-scrypt.ts'
import { type BackupParts, backupOf } from '../support/packed-backup.ts'
import { createTrial } from './trial.ts'

let room: string
let file: string
let target: string

useLightScrypt()

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-cli-restore-'))
  file = join(room, 'backup.tar')
  target = join(room, 'new folder')
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const SETTINGS = {
  from: 'server',
  settings: [
    { flag: 'base-url', value: 'https://once.example', from: '--base-url' },
    { flag: 'brand-title', value: "Ann's box", from: '--brand-title' },
    { flag: 'metrics-token', value: '(hidden)', from: 'ONCEBOX_METRICS_TOKEN' },
    { flag: 'port', value: '5100', from: 'default' },
    { flag: 'data-dir', value: '/old', from: '--data-dir' },
    { flag: 'no flag', value: 'x', from: '--no flag' },
  ],
}

/**
 * Makes a backup of a server with one push and an account with one token, or without accounts if `accounts`
 * is 0.
 */
async function makeBackup({
  accounts = 1,
  ...parts
}: BackupParts & { accounts?: number } = {}): Promise<void> {
  const dataDir = join(room, 'data')
  const instance = await startInstance({ dataDir })
  if (accounts > 0) await instance.addAccount('ann@example.org')
  await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  await instance.stop()
  writeFileSync(file, await backupOf(dataDir, parts))
}

const restore = (trial: ReturnType<typeof createTrial>, ...flags: string[]) =>
  trial.run('restore', file, '--data-dir', target, ...flags)

test('without a terminal, requires the decision about tokens before it reads anything', async () => {
  const trial = createTrial()
  expect(await restore(trial)).toBe(2)
  expect(trial.text()).toContain('--keep-tokens or --revoke-tokens is needed')
  expect(await restore(createTrial(), '--keep-tokens', '--revoke-tokens')).toBe(2)
  expect(await createTrial({ answers: [] }).run('restore')).toBe(2)
})

test('without a terminal, prints the plan, restores, and says what to do next', async () => {
  await makeBackup({ members: { 'settings.json': JSON.stringify(SETTINGS) } })
  const trial = createTrial()
  expect(await restore(trial, '--revoke-tokens')).toBe(0)
  const told = trial.err.join('\n')
  expect(told).toContain('1 push that can still be opened')
  expect(told).toContain('lost in a restore')
  expect(told).toContain('second factors')
  expect(told).toContain('ann@example.org')
  expect(told).toContain('They are all revoked.')
  expect(trial.out).toEqual([
    `Restored ${target}: 1 account, 1 push, 1 of them expired by this. Its API tokens are revoked.`,
    'Start it with:',
    `  oncebox serve --data-dir '${target}'`,
    'When the backup was made, these settings differed from the defaults:',
    '  --base-url https://once.example',
    `  --brand-title 'Ann'\\''s box'`,
    '  --metrics-token (a secret, which is in no backup)',
  ])
  expect(existsSync(join(target, 'oncebox.db'))).toBe(true)
})

test('at a terminal, asks about the tokens, and then for confirmation', async () => {
  await makeBackup()
  for (const answers of [['keep', 'n'], ['keep', ''], ['perhaps'], ['']]) {
    const trial = createTrial({ answers })
    expect(await restore(trial)).toBe(1)
    expect(existsSync(target)).toBe(false)
  }
  const trial = createTrial({ answers: [' Keep ', 'y'] })
  expect(await restore(trial)).toBe(0)
  expect(trial.out[0]).toContain('Its API tokens are kept.')
  expect(trial.out.at(-1)).toBe('All other settings were at their defaults when the backup was made.')
})

test('at a terminal with --yes, asks only about the tokens, and with a flag for them asks nothing', async () => {
  await makeBackup()
  expect(await restore(createTrial({ answers: ['revoke'] }), '--yes')).toBe(0)
  rmSync(target, { recursive: true })
  const trial = createTrial({ answers: [] })
  expect(await restore(trial, '--yes', '--keep-tokens')).toBe(0)
  expect(trial.err.join('\n')).not.toContain('[')
})

test('--revoke-tokens removes the webhooks of a backup without tokens, too', async () => {
  await makeBackup()
  const data = join(room, 'data')
  alterDatabase(
    data,
    `DELETE FROM api_tokens;
    INSERT INTO webhooks (host, sealed, format, events, with_name, created_at)
    VALUES ('hooks.example', x'00', 'json', ',push.created,', false, 0)`,
  )
  writeFileSync(file, await backupOf(data, {}))
  for (const [flag, left] of [
    ['--keep-tokens', 1],
    ['--revoke-tokens', 0],
  ] as const) {
    expect(await restore(createTrial(), flag)).toBe(0)
    using database = new Database(join(target, 'oncebox.db'))
    expect(database.query('SELECT count(*) AS n FROM webhooks').get()).toEqual({ n: left })
    rmSync(target, { recursive: true })
  }
})

test('asks nothing about tokens if the backup has none', async () => {
  await makeBackup({ accounts: 0 })
  const trial = createTrial({ answers: ['y'] })
  expect(await restore(trial)).toBe(0)
  expect(trial.text()).not.toContain('API tokens are')
})

test('a refusal is one line, with exit code 1', async () => {
  await makeBackup()
  const missing = createTrial()
  expect(await missing.run('restore', '/nowhere.tar', '--data-dir', target, '--keep-tokens')).toBe(1)
  expect(missing.err).toEqual(['oncebox: "/nowhere.tar" cannot be used: there is no such file or folder.'])
  const folder = createTrial()
  expect(await folder.run('restore', room, '--data-dir', target, '--keep-tokens')).toBe(1)
  expect(folder.err).toEqual([`oncebox: ${room} is a folder, not a backup.`])
  writeFileSync(file, 'nonsense')
  const nonsense = createTrial()
  expect(await restore(nonsense, '--keep-tokens')).toBe(1)
  expect(nonsense.err).toHaveLength(1)
})

test('without a terminal, reads a passphrase from a file', async () => {
  await makeBackup({ seal: { passphrase: 'open sesame' } })
  const trial = createTrial()
  expect(await restore(trial, '--keep-tokens')).toBe(1)
  expect(trial.text()).toContain('--passphrase-file')
  const asked = createTrial({ answers: ['open sesame', 'keep', 'y'] })
  expect(await restore(asked)).toBe(0)
}, 600_000)
