// The tests of an import from a Password Pusher, for every kind of database.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { visitFrom } from '../../src/domain/audit.ts'
import { DAY } from '../../src/domain/time.ts'
import type { DatabaseServer } from './database-servers.ts'
import { importsInto, newFolder } from './import.ts'
import { START } from './instance.ts'
import { MASTER_KEY, type SourcePush, type WriteOptions, writeSource } from './password-pusher.ts'

const NOW = START
const TOKEN = 'k8ft9i41akc'
const OTHER_KEY = 'f0'.repeat(32)

export const live = (id: number, parts: Partial<SourcePush> = {}): SourcePush => ({
  id,
  urlToken: `${TOKEN}-${id}`,
  payload: `secret ${id}`,
  createdAt: NOW - DAY,
  ...parts,
})

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ maxLength: 40 }))
/** Excludes lone surrogates, which are not UTF-8, and which no Ruby text contains. */
const stored = text.map((value) => value.toWellFormed().replaceAll('\u0000', ''))
const anyPush = fc.record({
  kind: fc.constantFrom(0, 2, 3),
  payload: stored,
  passphrase: fc.oneof(fc.constant(''), fc.constant(null), stored),
  note: stored,
  name: fc.oneof(fc.constant(null), stored),
  userId: fc.constantFrom(null, 1, 2, 99),
  days: fc.integer({ min: 1, max: 200 }),
  views: fc.integer({ min: 1, max: 200 }),
  deletable: fc.constantFrom(true, false, null),
  step: fc.boolean(),
  age: fc.integer({ min: 0, max: 300 * DAY }),
  looks: fc.array(fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8), { maxLength: 6 }),
  isOld: fc.boolean(),
  files: fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 2 }),
})

/** Registers the tests. `server` is asked when they run; null for an SQLite file. */
export function importCases(server: () => DatabaseServer | null, imports = importsInto()): void {
  const { runImport, importReport, verification, open } = imports
  let folder: string
  let dataDir: string

  beforeEach(() => {
    folder = newFolder()
    dataDir = join(folder, 'box')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function source(pushes: SourcePush[] = [], options: WriteOptions = {}) {
    const written = await writeSource(folder, { server: server(), ...options })
    for (const push of pushes) written.addPush(push)
    return written
  }

  async function bring(pushes: SourcePush[]) {
    const written = await source(pushes)
    await written.close()
    return importReport({ ...written.wish, dataDir }, NOW)
  }

  test('property: every value of a generated database is imported, also if an earlier key sealed it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyPush, { maxLength: 5 }), fc.boolean(), async (drawn, log) => {
        const place = newFolder()
        const written = await writeSource(place, { log, server: server() })
        for (const id of [1, 2]) written.addUser({ id, email: `user${id}@example.org` })
        for (const [at, { age, looks, isOld, files, ...push }] of drawn.entries()) {
          const createdAt = NOW - age
          const entries = [0, ...looks].map((kind, n) => ({ kind, at: createdAt + n, referrer: null }))
          const stored = files.map((content, n) => ({
            key: `ab${at}${n}key`,
            filename: `f${n}.txt`,
            content,
          }))
          const masterKey = isOld ? OTHER_KEY : MASTER_KEY
          written.addPush({ ...live(at + 1), ...push, createdAt, entries, files: stored, masterKey })
        }
        await written.flush()
        const keys = join(place, 'previous')
        writeFileSync(keys, `${'ab'.repeat(32)},${OTHER_KEY}`)
        const wish = { ...written.wish, previousKeysFile: keys, dataDir: join(place, 'box') }
        const report = await importReport(wish, NOW)
        expect(report.failures).toEqual([])
        expect(report.pushes.live + report.pushes.expired).toBe(drawn.length)
        expect(await verification(wish, NOW)).toMatchObject({ failures: [], differences: [] })
        await written.close()
        rmSync(place, { recursive: true, force: true })
      }),
      { numRuns: 15 },
    )
  }, 300_000)

  test('a key that opens nothing imports nothing, and is named', async () => {
    const { wish, close } = await source([live(1), live(2)])
    await close()
    writeFileSync(join(folder, 'wrong.key'), OTHER_KEY)
    const wrong = { ...wish, masterKeyFile: join(folder, 'wrong.key'), dataDir }
    await expect(runImport(wrong, NOW)).rejects.toThrow(
      /Nothing was imported: the master key in .*wrong\.key/,
    )
    await expect(runImport({ ...wish, masterKeyFile: null, dataDir }, NOW)).rejects.toThrow('publishes')
    expect(existsSync(dataDir)).toBe(false)
  })

  test('the published key is tried if none is named, with a warning', async () => {
    const published = '749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f'
    const { wish, close } = await source([live(1, { masterKey: published })])
    await close()
    const imported = await runImport({ ...wish, masterKeyFile: null, dataDir }, NOW)
    expect(imported.source.isDefaultKey).toBe(true)
  })

  test('pushes that cannot be imported are listed, and the others are imported', async () => {
    const content = Buffer.from('content')
    const file = (key: string, parts = {}) => [{ key, filename: 'a.txt', content, ...parts }]
    const report = await bring([
      live(1),
      live(2, { masterKey: OTHER_KEY }),
      live(3, { files: file('missing1', { isMissing: true }) }),
      live(4, { files: file('../../../../etc/passwd', { isMissing: true }) }),
      live(5, { files: file('amazonkey', { service: 'amazon' }) }),
      live(6, { urlToken: 'UPPERCASE-TOKEN' }),
      live(7, { urlToken: 'short' }),
      live(8, { kind: 9 }),
      live(9, { days: 0 }),
      live(10, { kind: 2, payload: 'javascript:alert(1)' }),
    ])
    expect(report.failures.map(({ place }) => place)).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9].map((id) => `push ${id}`),
    )
    expect(report.failures.map(({ what }) => what).join('\n')).toMatch(
      /keys[\s\S]*missing[\s\S]*key of a file[\s\S]*amazon/,
    )
    expect(report.pushes).toEqual({ live: 2, expired: 0, known: 0 })
    expect(report.notes).toEqual([{ place: 'push 10', what: expect.stringContaining('comes as a text') }])
  })

  test('a damaged file or a symlink is not imported, and leaves nothing behind', async () => {
    const content = Buffer.alloc(300_000, 7)
    const files = (key: string) => [{ key, filename: 'a.bin', content }]
    const written = await source([
      live(1, { files: files('abcdgood') }),
      live(2, { files: files('abcdbad1') }),
    ])
    written.addPush(live(3, { files: [{ key: 'abcdlink', filename: 'b', content, isMissing: true }] }))
    // A folder in the path of this file is itself a file.
    written.addPush(live(4, { files: [{ key: 'zzzzfile', filename: 'c', content, isMissing: true }] }))
    writeFileSync(join(folder, 'storage/zz'), '')
    await written.close()
    writeFileSync(join(folder, 'storage/ab/cd/abcdbad1'), Buffer.alloc(300_000, 8))
    symlinkSync('abcdgood', join(folder, 'storage/ab/cd/abcdlink'))
    const told = await importReport({ ...written.wish, dataDir, mode: 'dry-run' }, NOW)
    const report = await importReport({ ...written.wish, dataDir }, NOW)
    expect(report).toEqual(told)
    expect(report.pushes.live).toBe(1)
    expect(report.failures.map(({ what }) => what)).toEqual([
      expect.stringContaining('checksum'),
      expect.stringContaining('link'),
      expect.stringMatching(/missing|cannot be read/),
    ])
    const compared = await verification({ ...written.wish, dataDir }, NOW)
    expect(compared).toMatchObject({ live: 1, failures: report.failures, differences: [] })
    const { store } = await open(dataDir)
    await store.files.removeDue()
    await store.close()
    const kept = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
    expect(kept.filter((entry) => entry.isFile())).toHaveLength(1)
  })

  test('a database that still has tables of version 1 is refused, because its upgrade may not be finished', async () => {
    const { wish, run, close } = await source([live(1)])
    await run('CREATE TABLE passwords (id integer, url_token varchar(255))')
    await close()
    await expect(runImport({ ...wish, dataDir }, NOW)).rejects.toThrow(
      'version 1; upgrade that server to 2.x',
    )
  })

  test('log entries are imported in the order of their times, whatever their ids', async () => {
    const at = NOW - 1000
    const entries = [0, 1, 3].map((kind, n) => ({ kind, at: at - n * 10 }))
    await bring([live(1, { entries })])
    const { store } = await open(dataDir)
    const log = await Array.fromAsync(store.audit.readAll({ id: 1 }))
    await store.close()
    expect(log.flat().map(({ kind }) => kind)).toEqual(['expire', 'view', 'creation'])
  })

  test('a push dated in the future starts now, and a long user agent is cut between characters', async () => {
    const createdAt = NOW + 400 * DAY
    const entries = [{ kind: 0, at: NOW, userAgent: `${'x'.repeat(254)}😀` }]
    const written = await source([live(1, { createdAt, days: 3, entries })])
    await written.close()
    const wish = { ...written.wish, dataDir }
    const report = await importReport(wish, NOW)
    expect(report.notes).toEqual([{ place: 'push 1', what: expect.stringContaining('in the future') }])
    expect(await verification(wish, NOW)).toMatchObject({ live: 1, differences: [] })
    expect(await verification(wish, NOW + 4 * DAY)).toMatchObject({ live: 0, expired: 1, differences: [] })
  })

  test('the comparison reports differences, except for later activity here', async () => {
    const files = [{ key: 'abcdkey1', filename: 'a.txt', content: Buffer.from('x') }]
    const written = await source([live(1, { files, userId: 1, name: 'name' }), live(2, { userId: 1 })])
    const otpSecret = 'MQHBIYWNLRIXP56THXNO3NX6GX5ANNA2'
    written.addUser({ id: 1, email: 'ann@example.org', otpSecret, lastStep: 59_000_000 })
    await written.flush()
    const wish = { ...written.wish, dataDir }
    await importReport(wish, NOW)
    const { store } = await open(dataDir)
    const visit = visitFrom({ ip: '192.0.2.1', userAgent: '', referrer: '' })
    await store.pushes.claimView({ id: 2, visit, lookBy: null })
    await store.close()
    const differences = async (sql: string) => {
      await written.run(sql)
      return (await verification(wish, NOW)).differences.map(({ place, what }) => `${place}: ${what}`)
    }
    expect(await differences('UPDATE users SET last_otp_timestep = 58000000')).toEqual([])
    expect(await differences('UPDATE users SET last_otp_timestep = 59000001')).toEqual([
      'account ann@example.org: a code that was used there works again here',
    ])
    expect(
      await differences("UPDATE pushes SET name = 'other', expire_after_views = 9 WHERE id = 1"),
    ).toEqual([
      'account ann@example.org: a code that was used there works again here',
      'push 1: its limit in views differs',
      'push 1: its name differs',
    ])
    await written.close()
  })

  test('accounts keep the language that they chose there, if it is supported', async () => {
    const written = await source()
    const languages = ['no', 'zh-CN', 'tlh', undefined]
    for (const [index, language] of languages.entries()) {
      const user = { id: index + 1, email: `user${index}@example.org` }
      written.addUser(language === undefined ? user : { ...user, language })
    }
    await written.close()
    await importReport({ ...written.wish, dataDir }, NOW)
    const { store } = await open(dataDir)
    const kept = await Promise.all([1, 2, 3, 4].map((id) => store.preferences.find(id)))
    expect(kept.map((chosen) => chosen?.mailLanguage ?? null)).toEqual(['nb', 'zh-Hans', null, null])
    await store.close()
  })

  test('a dry run, an import and a comparison report an administrator who is a member here', async () => {
    const written = await source([live(1)])
    written.addUser({ id: 1, email: 'ann@example.org' })
    await written.flush()
    const wish = { ...written.wish, dataDir }
    await importReport(wish, NOW)
    await written.run('UPDATE users SET admin = true')
    const told = [{ place: 'account ann@example.org', what: 'here it is no administrator' }]
    expect((await importReport({ ...wish, mode: 'dry-run' }, NOW)).notes).toEqual(told)
    expect((await importReport(wish, NOW)).notes).toEqual(told)
    expect((await verification(wish, NOW)).differences).toEqual(told)
    await written.close()
  })

  test('without the storage folder, pushes with files are left for a later import', async () => {
    const file = { key: 'abcdgood', filename: 'a.txt', content: Buffer.from('x') }
    const { wish, close } = await source([live(1), live(2, { files: [file] })])
    await close()
    const first = await importReport({ ...wish, storage: null, dataDir }, NOW)
    expect(first.failures).toEqual([{ place: 'push 2', what: expect.stringContaining('--storage') }])
    const said: string[] = []
    const nowhere = { ...wish, storage: join(folder, 'nowhere'), dataDir }
    await runImport(nowhere, NOW, (line) => said.push(line))
    expect(said).toContain(
      `The folder ${nowhere.storage} does not exist, so pushes with files cannot be imported.`,
    )
    const second = await importReport({ ...wish, dataDir }, NOW)
    expect(second.pushes).toEqual({ live: 1, expired: 0, known: 1 })
  })

  test('a later import never restores pushes that were opened, expired or removed here', async () => {
    const { wish, addUser, addPush, close } = await source()
    addUser({ id: 1, email: 'ann@example.org', admin: true })
    addUser({ id: 2, email: 'bob@example.org' })
    addPush(live(1, { views: 1, userId: 1 }))
    addPush(live(2, { userId: 2 }))
    await close()
    await importReport({ ...wish, dataDir }, NOW)
    const { store } = await open(dataDir)
    const [listed] = await store.lists.listPushes({ ownerId: 1, expired: false, pageNumber: 1 })
    const visit = visitFrom({ ip: '192.0.2.1', userAgent: '', referrer: '' })
    await store.pushes.claimView({ id: listed?.push.id ?? 0, visit, lookBy: null })
    await store.accounts.removePushesOf(2)
    await store.accounts.removeAccount(2)
    await store.close()
    const report = await importReport({ ...wish, dataDir }, NOW)
    expect(report).toMatchObject({ accounts: { came: 0, known: 2 }, apiTokens: 0 })
    expect(report.pushes).toEqual({ live: 0, expired: 0, known: 2 })
    expect(await verification({ ...wish, dataDir }, NOW)).toMatchObject({ gone: 1, differences: [] })
  })

  test('locked and unconfirmed accounts, and those whose second factor cannot be decrypted, are imported as disabled', async () => {
    const { wish, addUser, run, addPush, close } = await source()
    addPush(live(1))
    addUser({
      id: 1,
      email: 'ok@example.org',
      otpSecret: 'MQHBIYWNLRIXP56THXNO3NX6GX5ANNA2',
      lastStep: 59_000_000,
    })
    addUser({ id: 2, email: 'locked@example.org', lockedAt: 1000 })
    addUser({ id: 3, email: 'unconfirmed@example.org', confirmedAt: null })
    addUser({ id: 4, email: 'sealed@example.org', otpSecret: 'MQHBIYWNLRIXP56THXNO3NX6GX5ANNA2' })
    await run("UPDATE users SET otp_secret_ciphertext = 'AAAA' WHERE id = 4")
    await close()
    const report = await importReport({ ...wish, dataDir }, NOW)
    expect(report.accounts).toEqual({ came: 4, disabled: 3, known: 0 })
    const { store } = await open(dataDir)
    expect((await store.accounts.findCredentials('ok@example.org'))?.totpStep).toBe(59_000_000)
    const accounts = await store.accounts.listAccounts()
    expect(accounts.filter(({ disabledAt }) => disabledAt === null).map(({ email }) => email)).toEqual([
      'ok@example.org',
    ])
    await store.close()
  })

  test('a dry run reports the same, and changes nothing', async () => {
    const owned = live(1, { userId: 1, name: 'name' })
    const { wish, addUser, close } = await source([owned, live(2, { masterKey: OTHER_KEY })])
    addUser({ id: 1, email: 'ann@example.org', otpSecret: 'MQHBIYWNLRIXP56THXNO3NX6GX5ANNA2' })
    await close()
    const dry = { ...wish, dataDir, mode: 'dry-run' as const }
    const told = await importReport(dry, NOW)
    expect(existsSync(dataDir)).toBe(false)
    expect(await importReport({ ...wish, dataDir }, NOW)).toEqual(told)
    expect(await importReport(dry, NOW)).toMatchObject({
      accounts: { came: 0, known: 1 },
      pushes: { live: 0, known: 1 },
    })
  })
}
