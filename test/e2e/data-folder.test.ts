// The data folder: only one server at a time, its key, clock and version, and no access for other users.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { startStopwatch } from '../support/effort.ts'
import { waitUntil } from '../support/waiting.ts'

const TRACE = /^\s+at |bug in Oncebox/m

const stage = createStage()
afterEach(stage.clear)

const keyFileOf = ({ dataDir }: Started) => join(dataDir, 'instance.key')

/** Makes the data folder of a stopped server, with one push, `urlToken`. */
async function usedFolder() {
  const server = await stage.start()
  const { url_token } = await (await server.create({ payload: 'kept' })).json()
  await server.end()
  return { dataDir: server.dataDir, key: keyFileOf(server), urlToken: url_token }
}

function changeDatabase(dataDir: string, sql: string): void {
  const database = new Database(join(dataDir, 'oncebox.db'))
  database.run(sql)
  database.close()
}

function allFiles(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

test('other users have no access to the data folder and its content', async () => {
  const server = await stage.start()
  await server.create({ payload: 'x' })
  expect(statSync(server.dataDir).mode & 0o777).toBe(0o700)
  for (const path of allFiles(server.dataDir)) {
    expect({ path, mode: statSync(path).mode & 0o777 }).toEqual({ path, mode: 0o600 })
  }
})

test('a second server on a data folder is refused, and the message names the first', async () => {
  const server = await stage.start()
  const stop = startStopwatch()
  const second = await stage.serve(server.dataDir)
  expect(stop()).toBeLessThan(30_000)
  expect(second.code).toBe(1)
  expect(second.stdout).toBe('')
  expect(second.stderr).toContain(`process ${server.pid}`)
  expect(second.stderr).toContain('--data-dir')
  expect((await server.create({ payload: 'undisturbed' })).status).toBe(201)
})

test('a start waits for a server that is stopping', async () => {
  const first = await stage.start()
  const second = stage.start({ dataDir: first.dataDir })
  await Bun.sleep(500)
  // Kill it, because on a busy machine an orderly stop may take longer than a start waits.
  expect(await first.end('SIGKILL')).toBeGreaterThan(128)
  expect((await (await second).ask('/up')).status).toBe(200)
})

test('a server killed while filling its reserve does not consider the disk full at the next start', async () => {
  const first = await stage.start()
  await first.end('SIGKILL')
  writeFileSync(join(first.dataDir, 'reserve'), '')
  const second = await stage.start({ dataDir: first.dataDir })
  expect((await second.create({ payload: 'x' })).status).toBe(201)
})

test('after kill -9 the next start works and nothing is lost', async () => {
  const first = await stage.start()
  const { url_token } = await (await first.create({ payload: 'kept' })).json()
  await first.end('SIGKILL')
  const second = await stage.start({ dataDir: first.dataDir })
  expect((await (await second.retrieve(url_token)).json()).payload).toBe('kept')
})

test('a wrong key file is refused with both fingerprints', async () => {
  const { dataDir } = await usedFolder()
  const other = await usedFolder()
  const { code, stderr } = await stage.serve(dataDir, '--key-file', other.key)
  expect(code).toBe(1)
  expect(new Set(stderr.match(/[0-9a-f]{4}(-[0-9a-f]{4}){3}/g)).size).toBe(2)
  expect(stderr).toContain('--key-file')
  for (const key of readFileSync(other.key, 'utf8').match(/[0-9a-f]{64}/g) ?? []) {
    expect(stderr).not.toContain(key)
  }
})

test.each([
  ['empty', ''],
  ['garbage', 'hello'],
  ['cut short', '1 abcdef\n'],
])('a key file that is %s is refused with an explanation', async (_, text) => {
  const { dataDir, key } = await usedFolder()
  writeFileSync(key, text)
  const { code, stderr } = await stage.serve(dataDir)
  expect(code).toBe(1)
  expect(stderr).toContain(key)
  expect(stderr).not.toMatch(TRACE)
  expect(readFileSync(key, 'utf8')).toBe(text)
})

test('a missing key file of an existing database is never replaced', async () => {
  const { dataDir, key, urlToken } = await usedFolder()
  const text = readFileSync(key, 'utf8')
  rmSync(key)
  const { code, stderr } = await stage.serve(dataDir)
  expect(code).toBe(1)
  expect(stderr).toContain('--key-file')
  expect(existsSync(key)).toBe(false)
  const elsewhere = join(stage.folder(), 'none.key')
  expect((await stage.serve(dataDir, '--key-file', elsewhere)).code).toBe(1)
  expect(existsSync(elsewhere)).toBe(false)
  writeFileSync(key, text, { mode: 0o600 })
  const server = await stage.start({ dataDir })
  expect((await (await server.retrieve(urlToken)).json()).payload).toBe('kept')
})

test('the key file may be outside the folder; it is created at the first start and private', async () => {
  const keyFile = join(stage.folder(), 'the.key')
  const first = await stage.start({ flags: ['--key-file', keyFile] })
  const { url_token } = await (await first.create({ payload: 'x' })).json()
  await first.end()
  expect(existsSync(keyFileOf(first))).toBe(false)
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  expect((await stage.serve(first.dataDir)).code).toBe(1)
  const second = await stage.start({ dataDir: first.dataDir, env: { ONCEBOX_KEY_FILE: keyFile } })
  expect((await (await second.retrieve(url_token)).json()).payload).toBe('x')
})

test('a key file that others can read is warned about', async () => {
  const { dataDir, key } = await usedFolder()
  chmodSync(key, 0o644)
  const server = await stage.start({ dataDir })
  await server.untilLogged('chmod 600')
})

test('a clock far behind is refused unless it is accepted', async () => {
  const { dataDir } = await usedFolder()
  changeDatabase(dataDir, `UPDATE instance SET clock_mark = ${Date.now() + 5 * 86_400_000}`)
  const refused = await stage.serve(dataDir)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('--accept-clock')
  const refusal = refused.stderr.split('\n').find((line) => line.startsWith('oncebox: '))
  expect(refusal?.match(/\d{4}-\d\d-\d\dT/g)).toHaveLength(2)
  const accepted = await stage.start({ dataDir, flags: ['--accept-clock'] })
  const { created_at } = await (await accepted.create({ payload: 'x' })).json()
  expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000)
})

test('a clock that is slightly behind continues from the last recorded time', async () => {
  const { dataDir } = await usedFolder()
  const mark = Date.now() + 3_600_000
  changeDatabase(dataDir, `UPDATE instance SET clock_mark = ${mark}`)
  const server = await stage.start({ dataDir })
  const { created_at } = await (await server.create({ payload: 'x' })).json()
  expect(Date.parse(created_at)).toBeGreaterThanOrEqual(mark)
})

test('a folder with other files in it is refused and not changed', async () => {
  const path = stage.folder()
  writeFileSync(join(path, 'thesis.txt'), 'mine')
  chmodSync(path, 0o755)
  const { code, stderr } = await stage.serve(path)
  expect(code).toBe(1)
  expect(stderr).toContain('thesis.txt')
  expect(readdirSync(path)).toEqual(['thesis.txt'])
  expect(statSync(path).mode & 0o777).toBe(0o755)
})

test('a file instead of the folder is refused with an explanation', async () => {
  const path = join(stage.folder(), 'file')
  writeFileSync(path, 'mine')
  const { code, stderr } = await stage.serve(path)
  expect(code).toBe(1)
  expect(stderr).toContain(path)
  expect(stderr).not.toMatch(TRACE)
  expect(readFileSync(path, 'utf8')).toBe('mine')
})

test('a database of a newer Oncebox is refused by server and commands, and not changed', async () => {
  const { dataDir } = await usedFolder()
  changeDatabase(dataDir, 'PRAGMA user_version = 999')
  const before = readFileSync(join(dataDir, 'oncebox.db'))
  const refusals = [await stage.serve(dataDir), await runBinary(['user', 'list', '--data-dir', dataDir])]
  for (const { code, stderr } of refusals) {
    expect(code).toBe(1)
    expect(stderr).toContain('newer')
  }
  expect(readFileSync(join(dataDir, 'oncebox.db')).equals(before)).toBe(true)
})

test.each([
  ['is none', () => Buffer.from('this is not a database, '.repeat(500))],
  ['was damaged', (whole: Buffer) => Buffer.from(whole).fill(0xa5, 100, 24_000)],
])(
  'a database that %s is refused with an explanation by server and commands, and not changed',
  async (_, damage) => {
    const { dataDir } = await usedFolder()
    const path = join(dataDir, 'oncebox.db')
    const damaged = damage(readFileSync(path))
    writeFileSync(path, damaged)
    for (const refused of [
      await stage.serve(dataDir),
      await runBinary(['user', 'list', '--data-dir', dataDir]),
    ]) {
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain(`oncebox: Cannot use the database ${path}`)
      expect(refused.stderr).toContain('Restore the folder from a backup.')
      expect(refused.stderr).not.toMatch(TRACE)
    }
    expect(readFileSync(path).equals(damaged)).toBe(true)
  },
)

test.each(['oncebox.db', 'oncebox.db-wal'])(
  'a server whose %s is removed accepts no more requests and ends',
  async (name) => {
    const server = await stage.start()
    await server.create({ payload: 'kept' })
    rmSync(join(server.dataDir, name))
    // The process may end before it has answered.
    const health = await server.ask('/up').catch(() => null)
    expect(health?.status ?? 503).toBe(503)
    const answer = await server.create({ payload: 'lost' }).catch(() => null)
    expect(answer?.status ?? 500).toBe(500)
    await waitUntil(() => !server.isRunning())
    // Two watchers can notice this; both log this part of the message.
    await server.untilLogged('while it was served')
  },
)

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['empty', (path: string) => truncateSync(path)],
])('a folder whose database is %s is not treated as new', async (state, lose) => {
  const { dataDir } = await usedFolder()
  const path = join(dataDir, 'oncebox.db')
  lose(path)
  const refusals = [
    await stage.serve(dataDir),
    await runBinary(['user', 'list', '--data-dir', dataDir]),
    await stage.serve(dataDir),
  ]
  for (const { code, stderr } of refusals) {
    expect(code).toBe(1)
    expect(stderr).toContain(`oncebox: The database ${path} is ${state}, though this folder was in use.`)
  }
  // An altered header does not make it count as new, either.
  new Database(path).run('PRAGMA journal_mode = WAL')
  expect((await stage.serve(dataDir)).stderr).toContain('though this folder was in use.')
})

test('a damaged page of the database is reported by commands as well, before they write', async () => {
  const { dataDir } = await usedFolder()
  const path = join(dataDir, 'oncebox.db')
  const damaged = readFileSync(path)
  damaged.fill(0xa5, damaged.length - 4096)
  writeFileSync(path, damaged)
  const { code, stderr } = await runBinary(['user', 'list', '--data-dir', dataDir])
  expect(code).toBe(1)
  expect(stderr).toContain(`The database ${path} is damaged`)
  expect(readFileSync(path).equals(damaged)).toBe(true)
})
