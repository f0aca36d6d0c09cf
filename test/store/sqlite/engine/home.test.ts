// A folder remembers where it was served: every way of copying one is tried, and everything that is no copy.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestStore } from '../../../support/store.ts'

let room = ''
let data = ''

beforeEach(async () => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-home-'))
  data = join(room, 'data')
  await serve()
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

type Options = Parameters<typeof openTestStore>[0]

/** One start and one clean end. Returns the warnings of the start. */
async function serve(options: Options = {}): Promise<string> {
  const warnings: string[] = []
  const { store } = await openTestStore({
    dataDir: data,
    onWarning: (said) => warnings.push(said),
    ...options,
  })
  await store.close()
  return warnings.join('\n')
}

const at = (name: string) => join(room, name)
const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true })
/** Over the files that are there, which keep their inodes. */
function pourInto(from: string, to: string, names = readdirSync(from)): void {
  for (const name of names)
    if (statSync(join(from, name)).isFile()) writeFileSync(join(to, name), readFileSync(join(from, name)))
}

test('starting again and again at home is no move', async () => {
  for (let start = 0; start < 3; start += 1) expect(await serve()).toBe('')
  expect(readdirSync(data).filter((name) => name.includes('home'))).toEqual(['serve.home'])
  expect(statSync(join(data, 'serve.home')).mode & 0o777).toBe(0o600)
})

test('a copy at another path is refused, and both places and the remedy are named', async () => {
  copy(data, at('copy'))
  const refused = serve({ dataDir: at('copy') })
  await expect(refused).rejects.toThrow(`as ${data}; now it is ${at('copy')}`)
  for (const words of ['holds the keys', 'oncebox restore', '--accept-move', 'can then be opened here again'])
    await expect(serve({ dataDir: at('copy') })).rejects.toThrow(words)
  expect(await serve()).toBe('')
})

test('a copy in the place of its original is refused, the original moved or removed', async () => {
  copy(data, at('old'))
  rmSync(data, { recursive: true })
  copy(at('old'), data)
  await expect(serve()).rejects.toThrow('put there anew')
})

test('the original that was moved aside and back is at home', async () => {
  renameSync(data, at('aside'))
  renameSync(at('aside'), data)
  expect(await serve()).toBe('')
})

test('database and key alone, in a new folder of the same name, are refused', async () => {
  renameSync(data, at('old'))
  mkdirSync(data, { mode: 0o700 })
  pourInto(at('old'), data, ['oncebox.db', 'instance.key'])
  await expect(serve()).rejects.toThrow('put there anew')
})

test('an older database that was put over the present one is refused', async () => {
  copy(data, at('old'))
  await serve()
  pourInto(at('old'), data, ['oncebox.db'])
  await expect(serve()).rejects.toThrow('one from another time')
})

test('a whole older folder that was poured over the present one, file by file, is refused', async () => {
  copy(data, at('old'))
  await serve()
  pourInto(at('old'), data)
  await expect(serve()).rejects.toThrow('put there anew')
})

test('a copy of the running folder that is poured back after a clean end is refused', async () => {
  const { store } = await openTestStore({ dataDir: data })
  copy(data, at('old'))
  await store.close()
  for (const name of readdirSync(at('old'))) if (name.endsWith('.lock')) rmSync(join(at('old'), name))
  pourInto(at('old'), data)
  await expect(serve()).rejects.toThrow('looks like a copy')
})

test('a folder that was renamed is asked about, and told from a copy', async () => {
  renameSync(data, at('new'))
  await expect(serve({ dataDir: at('new') })).rejects.toThrow('it was renamed')
})

test('a folder that two paths lead to may be served from either', async () => {
  renameSync(data, at('larger-disk'))
  symlinkSync(at('larger-disk'), data)
  for (const dataDir of [at('larger-disk'), data, at('larger-disk')])
    expect(await serve({ dataDir })).toBe('')
})

test('a copy on another machine is refused, and the same machine by a name that it lost is not', async () => {
  await serve({ machine: 'aaaaaaaa11' })
  expect(await serve({ machine: 'aaaaaaaa11' })).toBe('')
  await expect(serve({ machine: 'bbbbbbbb11' })).rejects.toThrow(
    'another machine (aaaaaaaa, this one is bbbbbbbb)',
  )
  expect(await serve({ machine: null })).toBe('')
  expect(await serve({ machine: 'bbbbbbbb11' })).toBe('')
})

test('--accept-move serves a copy from then on, and says what that means', async () => {
  copy(data, at('copy'))
  expect(await serve({ dataDir: at('copy'), acceptMove: true })).toContain('can be opened here again')
  expect(await serve({ dataDir: at('copy') })).toBe('')
  expect(await serve({ dataDir: at('copy'), acceptMove: true })).toContain('was not needed')
})

test('a refused copy is not changed: it is refused again', async () => {
  copy(data, at('copy'))
  const before = readFileSync(at('copy/oncebox.db'))
  for (const _ of [1, 2]) await expect(serve({ dataDir: at('copy') })).rejects.toThrow('looks like a copy')
  expect(readFileSync(at('copy/oncebox.db')).equals(before)).toBeTrue()
})

test('the refusal tells that the original is being served', async () => {
  copy(data, at('copy'))
  const { store } = await openTestStore({ dataDir: data })
  await expect(serve({ dataDir: at('copy') })).rejects.toThrow('The original is being served at this moment')
  await store.close()
})

test('a symbolic link to the folder is the folder', async () => {
  symlinkSync(data, at('link'))
  expect(await serve({ dataDir: at('link') })).toBe('')
  expect(await serve()).toBe('')
})

test('a killed server leaves its folder at home', async () => {
  const script = `
    const { openTestStore } = await import(${JSON.stringify(join(import.meta.dir, '../../../support/store.ts'))})
    await openTestStore({ dataDir: ${JSON.stringify(data)} })
    process.kill(process.pid, 'SIGKILL')
  `
  expect(await Bun.spawn([process.execPath, '-e', script]).exited).not.toBe(0)
  expect(await serve()).toBe('')
})

test('a process that ends at any step of writing the home down leaves it at home', async () => {
  // Before the commit: the new mark lies beside the present one.
  writeFileSync(join(data, 'serve.home.oncebox-new'), 'another\n')
  expect(await serve()).toBe('')
  // After the commit, and before the new mark takes its name.
  renameSync(join(data, 'serve.home'), join(data, 'serve.home.oncebox-new'))
  writeFileSync(join(data, 'serve.home'), 'the one before\n')
  expect(await serve()).toBe('')
  expect(existsSync(join(data, 'serve.home.oncebox-new'))).toBeFalse()
  expect(await serve()).toBe('')
})

test('a folder of a version that remembered nothing is taken as it is', async () => {
  changeDatabase('DELETE FROM home')
  copy(data, at('copy'))
  expect(await serve({ dataDir: at('copy') })).toBe('')
  await expect(serve({ dataDir: data })).resolves.toBe('')
})

test('a command that opens pushes refuses a copy, and does not make its place the home', async () => {
  copy(data, at('copy'))
  await expect(serve({ dataDir: at('copy'), isServer: false })).rejects.toThrow('looks like a copy')
  const before = readFileSync(join(data, 'serve.home'))
  expect(await serve({ isServer: false })).toBe('')
  expect(readFileSync(join(data, 'serve.home')).equals(before)).toBeTrue()
})

test('a folder that no server has served has no home', async () => {
  await serve({ dataDir: at('imported'), isServer: false })
  renameSync(at('imported'), at('elsewhere'))
  expect(await serve({ dataDir: at('elsewhere') })).toBe('')
})

function changeDatabase(sql: string): void {
  const database = new Database(join(data, 'oncebox.db'))
  database.run(sql)
  database.close(true)
}
