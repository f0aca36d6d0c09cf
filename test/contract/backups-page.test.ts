// Backups on the administration page: the last result, problems with their remedies, and the button.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackupEnd } from '../../src/backup/backup-child.ts'
import { writeBackupNote } from '../../src/store/folder/notes.ts'
import { LANGUAGES, wordsOf } from '../../src/words/words.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { textsIn } from '../support/page-facts.ts'
import { createPeople } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const { say } = wordsOf('en')
let instance: TestInstance
let outside = ''

afterEach(async () => {
  await instance.close()
  rmSync(outside, { recursive: true, force: true })
})

/** Fake backups of nine bytes, each finished once `hold` resolves. While `fault` is set they fail. */
async function startWith(flags: Record<string, string> = {}) {
  outside = mkdtempSync(join(tmpdir(), 'oncebox-backups-'))
  const folder = join(outside, 'b')
  const state = { fault: null as string | null, hold: Promise.resolve() }
  async function make(): Promise<BackupEnd> {
    await state.hold
    if (state.fault !== null) return { state: 'ended', said: state.fault }
    const { dataDir, clock } = instance
    const made = { name: 'a.tar', at: clock.now(), bytes: 9, durationMs: 5, kept: 1, isSameDisk: false }
    await writeBackupNote(dataDir, { mark: 'abcdef', last: { folder, ...made } })
    return { state: 'ended', said: null }
  }
  const startBackup = () => ({ ended: make(), kill: () => undefined })
  instance = await startInstance({ flags: { 'backup-dir': folder, ...flags }, startBackup })
  const token = await instance.addAccount('ann@example.org', { isAdmin: true })
  return { state, token, ann: await createPeople(instance).signIn('ann@example.org') }
}

/** Returns the text of the card. */
function partOf(html: string): string {
  return textsIn(html, '#backups').join()
}

test('a new administrator gets no advice on backups if the server makes them', async () => {
  const { ann } = await startWith()
  expect((await ann.get('/admin/welcome')).text).not.toContain('--backup-dir')
})

test('a server without --backup-dir says so, and has no button', async () => {
  instance = await startInstance()
  await instance.addAccount('ann@example.org', { isAdmin: true })
  const ann = await createPeople(instance).signIn('ann@example.org')
  for (const language of LANGUAGES) {
    const part = partOf((await ann.get(`/admin?locale=${language}`)).text)
    expect(part).toContain('--backup-dir')
    expect(part).not.toContain(wordsOf(language).say('backup_now'))
  }
  expect((await ann.post('/admin/backup', {})).status).toBe(404)
})

test('the button makes a backup, the page shows it, and the log names the administrator', async () => {
  const { ann, state } = await startWith({ 'backup-keep': '4' })
  const making = Promise.withResolvers<void>()
  state.hold = making.promise
  expect(partOf((await ann.get('/admin')).text)).toContain(say('backup_never'))
  const answer = await ann.post('/admin/backup', {})
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/admin#backups'])
  expect(partOf((await ann.get('/admin')).text)).toContain(say('backup_making'))
  making.resolve()
  await waitUntil(async () => partOf((await ann.get('/admin')).text).includes(say('backup_size')))
  const part = partOf((await ann.get('/admin')).text)
  for (const words of [
    wordsOf('en').moment(instance.clock.now()),
    wordsOf('en').bytes(9),
    say('backup_kept_of', { n: 1, most: 4 }),
    join(outside, 'b'),
    say('backup_shows_key', { flag: '--backup-recipient' }),
  ])
    expect(part).toContain(words)
  expect(instance.log.join('\n')).toContain('an administrator requested a backup accountId=1')
})

test('only administrators can press the button, with the form token', async () => {
  await startWith()
  await instance.addAccount('bob@example.org')
  const bob = await createPeople(instance).signIn('bob@example.org')
  expect((await bob.post('/admin/backup', {})).status).toBe(403)
  expect((await instance.fetch('/admin/backup', { method: 'POST' })).status).not.toBe(200)
  expect(instance.log.join('\n')).not.toContain('requested a backup')
})

describe('a failure', () => {
  test('is shown with its reason and remedy, in English on the page of every language', async () => {
    const { state, ann } = await startWith()
    state.fault = 'The disk of <b> is full. Make room there.'
    await ann.post('/admin/backup', {})
    await waitUntil(async () => partOf((await ann.get('/admin')).text).includes(say('backup_failed')))
    for (const language of LANGUAGES) {
      const { text } = await ann.get(`/admin?locale=${language}`)
      expect(text).toContain('<p lang="en" dir="ltr">The disk of &lt;b&gt; is full. Make room there.</p>')
      expect(partOf(text)).toContain(wordsOf(language).say('backup_again'))
    }
  })

  test('is sent to administrators once, and cleared by the next backup', async () => {
    const { state, token, ann } = await startWith()
    state.fault = 'The disk is full.'
    await ann.post('/admin/backup', {})
    await waitUntil(async () => partOf((await ann.get('/admin')).text).includes(say('backup_failed')))
    const events = async () =>
      (await (await instance.fetch('/api/oncebox/events', { token })).json()) as { events: object[] }
    await waitUntil(async () => (await events()).events.length > 0)
    expect(await events()).toMatchObject({ events: [{ type: 'backup.failed', data: {} }], next: 1 })
    state.fault = null
    await ann.post('/admin/backup', {})
    await waitUntil(async () => partOf((await ann.get('/admin')).text).includes(say('backup_size')))
    expect(partOf((await ann.get('/admin')).text)).not.toContain(say('backup_failed'))
  })
})

test('with a recipient the warning disappears, and the recipient is counted', async () => {
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
  const { ann } = await startWith({ 'backup-recipient': recipient })
  const part = partOf((await ann.get('/admin')).text)
  expect(part).toContain(say('backup_sealed_for', { n: 1 }))
  expect(part).not.toContain(say('backup_shows_key', { flag: '--backup-recipient' }))
  expect(instance.log.join('\n')).not.toContain('hold the instance key')
})
