// `oncebox backup verify`: its output and exit codes.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { startInstance } from '../support/instance.ts'
import { useLightScrypt } from '../support/light-scrypt.ts'
import { type BackupParts, backupOf, edit } from '../support/packed-backup.ts'
import { createTrial } from './trial.ts'

let room: string
let dataDir: string
let file: string
let temporary: string

useLightScrypt()

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-cli-verify-'))
  dataDir = join(room, 'data')
  file = join(room, 'backup.tar')
  temporary = join(room, 'temporary')
  mkdirSync(temporary)
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

async function makeBackup(parts: BackupParts = {}): Promise<void> {
  const instance = await startInstance({ dataDir })
  const token = await instance.addAccount('ann@example.org')
  for (const push of [{}, {}, { expire_after_views: 1 }]) {
    const response = await instance.fetch('/api/v2/pushes', {
      json: { push: { payload: 'x', ...push } },
      token,
    })
    const { url_token } = await response.json()
    if ('expire_after_views' in push) await instance.fetch(`/api/v2/pushes/${url_token}`)
  }
  await instance.stop()
  writeFileSync(file, await backupOf(dataDir, parts))
}

async function verify(...flags: string[]) {
  const trial = createTrial()
  const code = await trial.run('backup', 'verify', file, '--temp-dir', temporary, ...flags)
  expect(readdirSync(temporary)).toEqual([])
  return { code, out: trial.out, err: trial.err, text: trial.text() }
}

test('a good backup is described, and no temporary file remains', async () => {
  await makeBackup()
  const { code, out, err } = await verify()
  expect({ code, err }).toEqual({ code: 0, err: [] })
  expect(out[0]).toBe(`${file} can be restored.`)
  const told = Object.fromEntries(out.slice(1).map((line) => line.trim().split(/ {2,}/)))
  expect(told).toMatchObject({
    made: expect.stringContaining('(2026-11-20T12:00:00.000Z) by Oncebox 3.0.0, schema'),
    encrypted: 'no',
    accounts: '1 with 1 API token',
    pushes: '3 with 4 entries in their logs',
    'instance key': 'in it, and fits',
    opens: 'no push, not even with its link and the instance key',
    'a restore loses': '2 pushes that can still be opened, sessions and one-time links',
  })
})

test('compares a key file, wherever its flag occurs', async () => {
  await makeBackup({ members: { 'instance.key': null } })
  expect((await verify()).text).toContain('not in it: a restore needs the key file')
  expect((await verify('--key-file', join(dataDir, 'instance.key'))).text).toContain(
    'not in it; the key file fits',
  )
  writeFileSync(join(room, 'other.key'), newKeyFile(), { mode: 0o600 })
  const { code, err } = await verify('--key-file', join(room, 'other.key'))
  expect(code).toBe(1)
  expect(err.join()).toContain('does not belong to this database')
  expect((await verify('--key-file', '/nowhere')).code).toBe(1)
})

test('a damaged backup gets one line and exit code 1', async () => {
  await makeBackup()
  const whole = readFileSync(file)
  whole[whole.length - 9_000] = (whole[whole.length - 9_000] ?? 0) ^ 1
  writeFileSync(file, whole)
  const { code, err, out } = await verify()
  expect({ code, out }).toEqual({ code: 1, out: [] })
  expect(err).toEqual([
    `oncebox: The backup ${file} is damaged or was altered: the checksum of oncebox.db differs from the manifest.`,
  ])
})

test('a backup of a damaged database is reported, with exit code 1', async () => {
  await makeBackup()
  edit(join(dataDir, 'oncebox.db'), (database) =>
    database.run("UPDATE pushes SET kind = 'cake' WHERE id = 2"),
  )
  writeFileSync(file, await backupOf(dataDir))
  const { code, text } = await verify()
  expect(code).toBe(1)
  expect(text).toContain('can be restored, but parts of it are damaged')
  expect(text).toContain('Damaged, and not restored: 1 row.')
})

test('refuses a missing file, unknown flags and flags of other commands', async () => {
  expect(await createTrial().run('backup', 'verify')).toBe(2)
  await makeBackup()
  for (const flags of [['--recipient', 'age1x'], ['--data-dir', '/x'], ['--nonsense'], ['another']])
    expect((await verify(...flags)).code).toBe(2)
  file = join(room, 'missing.tar')
  expect((await verify()).err).toEqual([
    `oncebox: ${JSON.stringify(file)} cannot be used: there is no such file or folder.`,
  ])
})

test('asks for the passphrase, and reports a wrong one', async () => {
  await makeBackup({ seal: { passphrase: 'open sesame' } })
  const ask = (answer: string) => createTrial({ answers: [answer] })
  const [right, wrong] = [ask('open sesame'), ask('wrong')]
  expect(await right.run('backup', 'verify', file)).toBe(0)
  expect(right.text()).toContain('with a passphrase')
  expect(await wrong.run('backup', 'verify', file)).toBe(1)
  expect(wrong.text()).toContain('the passphrase is wrong')
}, 600_000)
