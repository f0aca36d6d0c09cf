// Whole moves: to another folder, into a bucket, to PostgreSQL and back, broken off at each step, and refused.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MovePlace, MovePorts, MoveWish } from '../../../src/app/moving/wish.ts'
import { ownSessions } from '../../../src/store/files/bucket-folder.ts'
import { openBucketEnd } from '../../../src/store/files/moving-ends.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { installedEngines } from '../../support/database-servers.ts'
import { folder, moveWith, newDatabase } from '../../support/move-room.ts'
import { makeFullFolder, openSqlite } from '../../support/moving.ts'
import { connectTo, startTestPostgres, type TestPostgres } from '../../support/postgres.ts'
import { openTestStore } from '../../support/store.ts'

const hasPostgres = installedEngines().includes('postgres')
let server: TestPostgres
let bucket: TestBucket
let full: Awaited<ReturnType<typeof makeFullFolder>>
beforeAll(async () => {
  if (hasPostgres) server = await startTestPostgres()
  bucket = await openTestBucket()
  full = await makeFullFolder()
})
afterAll(async () => {
  await server?.stop()
  await bucket.close()
  rmSync(full.dataDir, { recursive: true, force: true })
})

let room: string
let from: string
let to: string
beforeEach(async () => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-move-'))
  from = join(room, 'from')
  to = join(room, 'to')
  cpSync(full.dataDir, from, { recursive: true, preserveTimestamps: true })
  // The copy is at home from now on.
  await serve(from)
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const said: string[] = []
const settingsOf = ({ settings: { place, credentials } }: TestBucket) => ({ place, credentials })

const postgres = () => newDatabase(server)

function addressOf(place: MovePlace): string {
  if (place.kind === 'folder') throw new Error('no server')
  const { host, port, user, password, database } = place.address
  return `postgres://${user}:${encodeURIComponent(password ?? '')}@${host}:${port}/${database}`
}

function move(wish: Partial<MoveWish>, ports: Partial<MovePorts> = {}) {
  return moveWith(
    { from: folder(from), to: folder(to), ...wish },
    { now: full.clock.now, say: (line) => said.push(line), ...ports },
  )
}

/** Opens as a server does, and reads what matters. */
async function serve(dataDir: string) {
  const { store } = await openTestStore({ dataDir, clock: full.clock, acceptMove: true })
  const log = (await Array.fromAsync(store.audit.readAll({ id: full.watched }))).flat()
  const file = await store.files.has({ id: 'file1', size: 600_100 })
  const { total } = await store.people.listPeople({ search: '', pageNumber: 1 })
  await store.close()
  return { log: log.length, file, total }
}

const UNCONFIRMED = { confirm: async () => false }
const WHOLE = { log: 504, file: true, total: 2 }

test('a folder moves to a new one, key and files included, and is not served any more', async () => {
  expect(await serve(from)).toEqual(WHOLE)
  const report = await move({})
  expect(report).toMatchObject({
    state: 'moved',
    from,
    to,
    files: { count: 2 },
    keyFile: join(to, 'instance.key'),
  })
  expect(readFileSync(join(to, 'instance.key'))).toEqual(readFileSync(join(from, 'instance.key')))
  expect(statSync(join(to, 'instance.key')).mode & 0o777).toBe(0o600)
  expect(await serve(to)).toEqual(WHOLE)
  await expect(serve(from)).rejects.toThrow(`Everything in ${from} was moved to ${to}`)
  await expect(move({})).rejects.toThrow('already')
})

test('without a confirmation the source goes on and the target is not served', async () => {
  const report = await move({}, { confirm: async () => false })
  expect(report.state).toBe('copied')
  await expect(serve(to)).rejects.toThrow('with --confirm')
  expect((await move({ mode: 'confirm' })).state).toBe('moved')
  expect(await serve(to)).toEqual(WHOLE)
})

test('a source that was served after the copy cannot be confirmed, and is copied anew', async () => {
  await move({}, { confirm: async () => false })
  await serve(from)
  await expect(move({ mode: 'confirm' })).rejects.toThrow('was used since it was copied')
  expect((await move({})).state).toBe('moved')
  expect(await serve(to)).toEqual(WHOLE)
})

test('a row that was changed behind the back of the copy is found before anything is confirmed', async () => {
  await move({}, { confirm: async () => false })
  const { writer, close } = openSqlite(join(to, 'oncebox.db'))
  await writer.writeRows('imported', [{ mark: Buffer.alloc(16, 1), keyNumber: 1 }])
  await close()
  await expect(move({ mode: 'confirm' })).rejects.toThrow('is not the same as its source')
  expect(await serve(from)).toEqual(WHOLE)
  expect((await move({})).state).toBe('moved')
})

test('a dry run tells what would come and what is still needed, and changes nothing', async () => {
  const report = await move({ mode: 'dry-run', toBucket: settingsOf(bucket) })
  expect(report.state).toBe('planned')
  expect(report.counts).toMatchObject({ accounts: 2, files: 2, bytes: 600_200 })
  expect(report.needs.join()).toContain('--key-file is missing')
  expect(existsSync(to)).toBe(false)
  await expect(move({ toBucket: settingsOf(bucket) })).rejects.toThrow('--key-file is missing')
})

test('a target with anything in it is refused, and a source that is served', async () => {
  mkdirSync(to)
  writeFileSync(join(to, 'letter.txt'), 'x')
  await expect(move({})).rejects.toThrow('it is not empty (there is "letter.txt")')
  rmSync(join(to, 'letter.txt'))
  const { store } = await openTestStore({ dataDir: from, clock: full.clock, acceptMove: true })
  await expect(move({})).rejects.toThrow('is already served by')
  await store.close()
})

test('while a folder is moved, a second move and a server are told of the first one', async () => {
  const refused: unknown[] = []
  const confirm = async () => {
    const others = [move({ to: folder(join(room, 'other')) }), serve(from)]
    for (const { reason } of (await Promise.allSettled(others)) as PromiseRejectedResult[])
      refused.push(reason)
    return false
  }
  await move({}, { confirm })
  const told = expect.stringMatching(
    /is at an end of a move \(oncebox move, process \d+ on .*Wait for its end/,
  )
  expect(refused).toMatchObject([{ message: told }, { message: told }])
  expect(await serve(from)).toEqual(WHOLE)
})

test('a bucket that becomes full or fails on the way stops the move, which goes on once it works', async () => {
  const wish = { to: folder(from), toBucket: settingsOf(bucket), keyFile: join(room, 'key') }
  const isFile = (key: string) => key.endsWith('file1')
  bucket.failWith(({ method, key }) =>
    method !== 'GET' && isFile(key) ? { status: 507, code: 'QuotaExceeded' } : null,
  )
  await expect(move(wish)).rejects.toThrow(/no room left for the files.*run the same command again/)
  bucket.failWith(({ method, key }) =>
    method !== 'GET' && isFile(key) ? { status: 403, code: 'AccessDenied' } : null,
  )
  await expect(move(wish)).rejects.toThrow(/bucket cannot be reached.*run the same command again/)
  bucket.failWith(() => null)
  expect(await serve(from)).toEqual(WHOLE)
  expect(await move(wish)).toMatchObject({ state: 'moved' })
})

/** The folders of databases in the bucket, with the ids of the files in each. */
function foldersOf({ listKeys }: TestBucket): Map<string, string[]> {
  const files = listKeys().flatMap((key) => /([^/]+)\/([^/_]+)$/.exec(key)?.slice(1) ?? [])
  const folders = new Map<string, string[]>()
  for (let at = 0; at < files.length; at += 2) {
    const [tag = '', id = ''] = files.slice(at)
    folders.set(tag, [...(folders.get(tag) ?? []), id])
  }
  return folders
}

test.each(['folder', ...(hasPostgres ? ['postgres' as const] : [])] as const)(
  'tries that copy everything anew to a %s use one folder of the bucket',
  async (kind) => {
    const place = kind === 'folder' ? folder(to) : await postgres()
    const wish = { to: place, toBucket: settingsOf(bucket), keyFile: join(room, 'key') }
    const before = foldersOf(bucket).size
    for (const _ of [1, 2, 3]) {
      await move(wish, { confirm: async () => false })
      await serve(from)
    }
    expect(foldersOf(bucket).size).toBe(before + 1)
    expect(await move(wish)).toMatchObject({ state: 'moved', files: { count: 2 } })
    expect(foldersOf(bucket).size).toBe(before + 1)
  },
)

test('a try that names a disk after one that named a bucket keeps the files on the disk', async () => {
  await move({ toBucket: settingsOf(bucket), keyFile: join(room, 'key') }, { confirm: async () => false })
  await serve(from)
  expect(await move({ keyFile: join(room, 'key') })).toMatchObject({ state: 'moved', files: { count: 2 } })
  expect(existsSync(join(to, 'files', 'fi', 'file1'))).toBe(true)
})

test('a part of a file that a killed try has left does not stop one that copies everything anew', async () => {
  await move({}, { confirm: async () => false })
  rmSync(join(to, 'files', 'fi', 'file1'))
  writeFileSync(join(to, 'files', 'fi', 'file1.part'), 'begun')
  await serve(from)
  expect((await move({})).state).toBe('moved')
  expect(await serve(to)).toEqual(WHOLE)
})

test('another key file is refused', async () => {
  const keyFile = join(room, 'key')
  writeFileSync(keyFile, `1 ${'ab'.repeat(32)}\n`, { mode: 0o600 })
  await expect(move({ keyFile })).rejects.toThrow('does not belong to the source of the move')
})

test('damage stops the move and is named, or is left out', async () => {
  rmSync(join(from, 'files', 'fi', 'file1'))
  await expect(move({})).rejects.toThrow(/a file of push \d+.*--skip-damaged/)
  expect((await move({ mode: 'dry-run' })).damaged).toHaveLength(1)
  const all = (await move({ mode: 'dry-run' })).counts.pushes
  const leftOut = [expect.stringMatching(/a file of push \d+/)]
  const copied = await move({ skipDamaged: true }, UNCONFIRMED)
  expect(copied).toMatchObject({ state: 'copied', damaged: leftOut, counts: { pushes: all - 1 } })
  expect(copied.compared?.pushes?.rows).toBe(all - 1)
  // Whoever confirms it later is told, too.
  const moved = await move({ mode: 'confirm' })
  expect(moved).toMatchObject({ state: 'moved', damaged: leftOut, counts: { pushes: all - 1 } })
})

test('a file that is lost after everything was copied can still be left out', async () => {
  expect((await move({}, UNCONFIRMED)).state).toBe('copied')
  rmSync(join(from, 'files', 'fi', 'file1'))
  await expect(move({}, UNCONFIRMED)).rejects.toThrow(/a file of push \d+.*--skip-damaged/i)
  const report = await move({ skipDamaged: true })
  expect(report).toMatchObject({ state: 'moved', damaged: [expect.stringMatching(/a file of push \d+/)] })
})

test.skipIf(process.platform !== 'linux')('an end that cannot be opened is closed again', async () => {
  const held = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      const path = `/proc/self/fd/${fd}`
      return existsSync(path) && readlinkSync(path).startsWith(room)
    })
  const setVersion = (version: number) => {
    const database = new Database(join(from, 'oncebox.db'))
    const { user_version: before } = database.query('PRAGMA user_version').get() as { user_version: number }
    database.run(`PRAGMA user_version = ${version}`)
    database.close()
    return before
  }
  const version = setVersion(9999)
  await expect(move({})).rejects.toThrow('newer')
  expect(held()).toEqual([])
  setVersion(version)
  await move({ toBucket: settingsOf(bucket), to: folder(from), keyFile: join(room, 'key') })
  // Another bucket lacks the files.
  const lost = { ...settingsOf(bucket), place: { ...settingsOf(bucket).place, prefix: 'elsewhere/' } }
  await expect(move({ fromBucket: lost })).rejects.toThrow('lacks the files')
  expect(held()).toEqual([])
})

test('a source is destroyed only once everything is elsewhere', async () => {
  await move({})
  renameSync(to, `${to}-aside`)
  await expect(move({ destroySource: true })).rejects.toThrow('does not hold what was moved there')
  renameSync(`${to}-aside`, to)
  const kept = await move({ destroySource: true }, { confirmDestruction: async () => false })
  expect(kept).toMatchObject({ state: 'moved', isDestroyed: false })
  expect(existsSync(join(from, 'oncebox.db'))).toBe(true)
  const report = await move({ destroySource: true })
  expect(report.isDestroyed).toBe(true)
  for (const name of ['oncebox.db', 'instance.key', 'files']) expect(existsSync(join(from, name))).toBe(false)
  await expect(serve(from)).rejects.toThrow('was moved to')
  expect(await serve(to)).toEqual(WHOLE)
})

test('a move that is broken off at any step goes on there', async () => {
  const toBucket = settingsOf(bucket)
  const keyFile = join(room, 'key')
  const steps: string[] = []
  let left = 0
  const onStep = (step: string) => {
    steps.push(step)
    left -= 1
    if (left === 0) throw new Error('stopped')
  }
  for (left = 1; ; left = steps.length + 1) {
    steps.length = 0
    const wanted = left
    const report = await move({ toBucket, keyFile }, { onStep }).catch((cause: Error) => {
      expect(cause.message).toBe('stopped')
      return null
    })
    if (report !== null) {
      expect(report.state).toBe('moved')
      break
    }
    expect(wanted).toBeLessThan(60)
    left = wanted
  }
  await expect(serve(from)).rejects.toThrow('was moved to')
})

test('files move into a bucket and back alone, and stay whole', async () => {
  const keyFile = join(room, 'key')
  const wish = { to: folder(from), toBucket: settingsOf(bucket), keyFile, destroySource: true }
  const there = await move(wish)
  expect(there).toMatchObject({ state: 'moved', files: { count: 2 }, isDestroyed: true })
  expect(existsSync(join(from, 'files', 'fi', 'file1'))).toBe(false)
  await expect(serve(from)).rejects.toThrow('in a bucket')
  const back = await move({ to: folder(from), fromBucket: settingsOf(bucket), fromKeyFile: keyFile, keyFile })
  expect(back).toMatchObject({ state: 'moved', files: { count: 2 } })
  expect(await serve(from)).toEqual(WHOLE)
})

test.skipIf(!hasPostgres)('everything goes to PostgreSQL and a bucket, and back', async () => {
  const [place, keyFile] = [await postgres(), join(room, 'key')]
  const toBucket = settingsOf(bucket)
  const there = await move({ to: place, toBucket, keyFile, destroySource: true })
  expect(there).toMatchObject({ state: 'moved', files: { count: 2 }, isDestroyed: true })
  const back = await move({ from: place, fromBucket: toBucket, fromKeyFile: keyFile })
  expect(back).toMatchObject({ state: 'moved', files: { count: 2 }, counts: there.counts })
  expect(back.compared).toEqual(there.compared)
  expect(await serve(to)).toEqual(WHOLE)
  await expect(move({ from: place, to: folder(join(room, 'third')), fromKeyFile: keyFile })).rejects.toThrow(
    'already',
  )
})

test.skipIf(!hasPostgres)('files that are in the bucket already stay there', async () => {
  const [place, keyFile, toBucket] = [await postgres(), join(room, 'key'), settingsOf(bucket)]
  await move({ to: folder(from), toBucket, keyFile })
  const puts = bucket.seen.length
  const report = await move({ to: place, fromBucket: toBucket, toBucket, keyFile })
  expect(report).toMatchObject({ state: 'moved', files: null })
  expect(
    bucket.seen.slice(puts).filter(({ method, key }) => method === 'PUT' && !key.endsWith('_mark')),
  ).toEqual([])
})

test.skipIf(!hasPostgres)('a database that is in use is refused, at either end', async () => {
  const [place, keyFile] = [await postgres(), join(room, 'key')]
  await move({ to: place, toBucket: settingsOf(bucket), keyFile })
  await expect(
    move({ from: folder(full.dataDir), to: place, toBucket: settingsOf(bucket), keyFile }),
  ).rejects.toThrow('it holds 2 accounts')
})

test.skipIf(!hasPostgres)(
  'a database that was used since it was copied cannot be confirmed, nor one that is served',
  async () => {
    const [place, keyFile] = [await postgres(), join(room, 'key')]
    const toBucket = settingsOf(bucket)
    await move({ to: place, toBucket, keyFile })
    const back = { from: place, fromBucket: toBucket, fromKeyFile: keyFile }
    await move(back, { confirm: async () => false })
    const sql = connectTo(addressOf(place))(1)
    await sql`UPDATE instance SET beats = beats + 1`
    await expect(move({ ...back, mode: 'confirm' })).rejects.toThrow('was used since it was copied')
    await sql`INSERT INTO nodes (id, name, version, started_at, seen_at)
    VALUES ('\\x01', 'box-1', '3.0.0', 0, extract(epoch FROM clock_timestamp()) * 1000)`
    await expect(move(back)).rejects.toThrow('is being served (by box-1)')
    await sql`DELETE FROM nodes`
    expect((await move(back)).state).toBe('moved')
    expect(await sql`SELECT halted FROM instance`).toEqual([
      { halted: expect.stringContaining('was moved to') },
    ])
    await sql.close()
  },
)

test.skipIf(!hasPostgres)(
  'a database that no node would serve is no source, because nobody would notice it at the target',
  async () => {
    const [place, keyFile] = [await postgres(), join(room, 'key')]
    const [toDataDir, third] = [join(room, 'node'), folder(join(room, 'third'))]
    await move({ to: place, toDataDir, keyFile })
    const back = { from: place, fromDataDir: toDataDir, fromKeyFile: keyFile, to: third }
    const sql = connectTo(addressOf(place))(1)
    const [{ tag, here }] = await sql`UPDATE instance SET place = 'elsewhere' RETURNING tag::text AS tag,
      (SELECT system_identifier FROM pg_control_system()) || '/1/1/0000000A' AS here`
    await expect(move(back)).rejects.toThrow('at another place than where it was last served')
    const witness = { tag, beats: 0, restoredAt: 0, place: here, operations: [], savedAt: 0, node: null }
    const remember = (changes: object) =>
      writeFileSync(join(toDataDir, 'serve.witness'), JSON.stringify({ ...witness, ...changes }))
    remember({ isFinal: true })
    await expect(move(back)).rejects.toThrow('was served on timeline 10 already')
    remember({ isFinal: true, place: null, tag: 'another' })
    await expect(move(back)).rejects.toThrow('than the one of --from')
    expect(existsSync(join(room, 'third', 'oncebox.db'))).toBe(false)
    // The node that stopped last knows that nothing is missing.
    remember({ isFinal: true, place: null })
    expect((await move(back)).state).toBe('moved')
    await sql.close()
  },
)

test('a bucket that lacks the files is noticed before anything is copied', async () => {
  const settings = { ...settingsOf(bucket), maxFileBytes: 1e9 }
  const lost = { tag: 'none', sessions: ownSessions('x'), findHeld: async () => ['aa1'] }
  await expect(openBucketEnd({ settings, folder: lost, onWarning: () => undefined })).rejects.toThrow(
    'lacks the files that the database names',
  )
})
