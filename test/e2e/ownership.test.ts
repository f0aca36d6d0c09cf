// Ownership of the data folder: files of other users are refused, and root owns no file in it.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, runBinary } from '../support/binary.ts'
import { needs } from '../support/needs.ts'

/** Two user ids: one without an entry in /etc/passwd, as in containers, and one with an entry. */
const ANN = 54321
const NOBODY = 65534
const PASSWORD = { input: 'correct horse battery' }

const stage = createStage()
afterEach(stage.clear)

/** Runs the binary as another user, who has access to the parent folder. */
async function runAs(uid: number, args: string[]) {
  const child = Bun.spawn([BINARY, ...args], {
    ...{ uid, gid: uid, cwd: '/', stdin: new Blob([PASSWORD.input]), stdout: 'pipe', stderr: 'pipe' },
    env: { HOME: '/nonexistent' },
  })
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  return { stderr, code }
}

/** Makes a folder that all users may enter, and returns the path of a data folder in it. */
function newFolder(): string {
  const parent = stage.folder()
  chmodSync(parent, 0o755)
  return join(parent, 'box')
}

const addUser = (dataDir: string, ...flags: string[]) =>
  runBinary(['user', 'add', 'ann@example.org', '--password-stdin', '--data-dir', dataDir, ...flags], PASSWORD)

function ownersOf(dataDir: string): Set<number> {
  const inside = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
  return new Set(['.', ...inside].map((name) => lstatSync(join(dataDir, name)).uid))
}

async function usedFolder(): Promise<string> {
  const dataDir = newFolder()
  expect((await addUser(dataDir)).code).toBe(0)
  return dataDir
}

function giveAll(dataDir: string, uid: number): void {
  for (const name of readdirSync(dataDir)) lchownSync(join(dataDir, name), uid, uid)
  chownSync(dataDir, uid, uid)
}

describe('user add before the first start', () => {
  test('creates folder, key and database, which the server then serves', async () => {
    const dataDir = newFolder()
    expect((await addUser(dataDir, '--admin')).code).toBe(0)
    expect(lstatSync(dataDir).mode & 0o777).toBe(0o700)
    expect(lstatSync(join(dataDir, 'instance.key')).mode & 0o777).toBe(0o600)
    const server = await stage.start({ dataDir })
    expect(server.stdout()).not.toContain('no administrator')
    expect((await server.create({ payload: 'x' })).status).toBe(201)
  })

  test('creates the key where the server will look for it', async () => {
    const dataDir = newFolder()
    const keyFile = join(stage.folder(), 'the.key')
    expect((await addUser(dataDir, '--key-file', keyFile)).code).toBe(0)
    expect(existsSync(join(dataDir, 'instance.key'))).toBe(false)
    await stage.start({ dataDir, flags: ['--key-file', keyFile] })
  })

  test('is the only command that creates a folder', async () => {
    const dataDir = newFolder()
    const others = [
      ...[
        ['user', 'list'],
        ['user', 'password', 'a@b.c', '--password-stdin'],
        ['user', 'disable', 'a@b.c'],
      ],
      ...[
        ['user', 'remove', 'a@b.c', '--yes'],
        ['token', 'create', 'a@b.c'],
        ['token', 'list', 'a@b.c'],
      ],
    ]
    for (const args of others) {
      const { code, stderr } = await runBinary([...args, '--data-dir', dataDir], PASSWORD)
      expect(code).toBe(1)
      expect(stderr).toContain(`There is no Oncebox data in ${dataDir}`)
      expect(existsSync(dataDir)).toBe(false)
    }
  })

  test('does not change a folder with other files', async () => {
    const dataDir = stage.folder()
    writeFileSync(join(dataDir, 'thesis.txt'), 'mine')
    const { code, stderr } = await addUser(dataDir)
    expect(code).toBe(1)
    expect(stderr).toContain('thesis.txt')
    expect(readdirSync(dataDir)).toEqual(['thesis.txt'])
  })

  test('creates one folder if it runs twice at once', async () => {
    const dataDir = newFolder()
    const add = (email: string) =>
      runBinary(['user', 'add', email, '--password-stdin', '--data-dir', dataDir], PASSWORD)
    const ended = await Promise.all(['a@b.c', 'd@e.f', 'g@h.i'].map(add))
    expect(ended.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', ''])
    const { stdout } = await runBinary(['user', 'list', '--data-dir', dataDir])
    expect(stdout.match(/@/g)).toHaveLength(3)
  })
})

needs('root').describe('as root', () => {
  test.each([
    ['a folder', ''],
    ['a key file', 'instance.key'],
    ['a database', 'oncebox.db'],
    ['a lock', 'serve.lock'],
    ['a folder of files', 'files'],
    ['a write-ahead log', 'oncebox.db-wal'],
    ['a journal of a lock', 'serve.lock-journal'],
    ['a reserve', 'reserve'],
  ])('a start refuses %s of another user, naming owner and remedy', async (_, name) => {
    const dataDir = await usedFolder()
    const path = name === '' ? dataDir : join(dataDir, name)
    if (!existsSync(path)) name === 'files' ? mkdirSync(path) : writeFileSync(path, '')
    lchownSync(path, NOBODY, NOBODY)
    const { code, stderr } = await stage.serve(dataDir)
    expect(code).toBe(1)
    expect(stderr).toContain(`${path} belongs to nobody (uid ${NOBODY}), and this runs as root (uid 0).`)
    expect(stderr).toMatch(/--data-dir|--key-file|chown (-hR )?root/)
    expect(stderr).not.toMatch(/^\s+at |bug in Oncebox/m)
  })

  test('a start refuses symlinks of another user, and symlinks to their files', async () => {
    const dataDir = await usedFolder()
    const key = join(dataDir, 'instance.key')
    const elsewhere = join(stage.folder(), 'key')
    renameSync(key, elsewhere)
    symlinkSync(elsewhere, key)
    lchownSync(key, ANN, ANN)
    expect((await stage.serve(dataDir)).stderr).toContain(`${key} belongs to the user ${ANN}`)
    lchownSync(key, 0, 0)
    chownSync(elsewhere, ANN, ANN)
    expect((await stage.serve(dataDir)).stderr).toContain(`${key} belongs to the user ${ANN}`)
  })

  test("a start refuses another user's key file, and creates none through their symlink", async () => {
    const dataDir = newFolder()
    const planted = join(stage.folder(), 'the.key')
    writeFileSync(planted, '')
    chownSync(planted, ANN, ANN)
    const { code, stderr } = await stage.serve(dataDir, '--key-file', planted)
    expect(code).toBe(1)
    expect(stderr).toContain(`The key file ${planted} belongs to the user ${ANN}`)
    const link = join(stage.folder(), 'link')
    symlinkSync(join(stage.folder(), 'target'), link)
    lchownSync(link, ANN, ANN)
    expect((await stage.serve(dataDir, '--key-file', link)).stderr).toContain(
      `The key file ${link} belongs to`,
    )
  })

  test('a command run by root becomes the owner of the folder, so that no file in it belongs to root', async () => {
    const dataDir = await usedFolder()
    giveAll(dataDir, ANN)
    renameSync(join(dataDir, 'serve.lock'), join(stage.folder(), 'serve.lock'))
    const added = await runBinary(
      ['user', 'add', 'bob@example.org', '--password-stdin', '--data-dir', dataDir],
      PASSWORD,
    )
    expect(added.code).toBe(0)
    expect(added.stderr).toContain(`Data folder: ${dataDir} (as ${ANN}, who owns it)`)
    expect(ownersOf(dataDir)).toEqual(new Set([ANN]))
    expect((await runBinary(['user', 'list', '--data-dir', dataDir])).stdout).toContain('bob@example.org')
  })

  test('a folder that a command creates belongs to the owner of its parent folder', async () => {
    const parent = stage.folder()
    chownSync(parent, ANN, ANN)
    const dataDir = join(parent, 'share', 'oncebox')
    expect((await addUser(dataDir)).code).toBe(0)
    expect(ownersOf(join(parent, 'share'))).toEqual(new Set([ANN]))
  })

  test("a command run by root does not follow symlinks of the folder's owner", async () => {
    const dataDir = newFolder()
    const target = join(stage.folder(), 'cron')
    mkdirSync(dataDir)
    symlinkSync(target, join(dataDir, 'serve.lock'))
    writeFileSync(join(dataDir, 'oncebox.db'), 'x'.repeat(4096))
    giveAll(dataDir, ANN)
    expect((await runBinary(['user', 'list', '--data-dir', dataDir])).code).toBe(1)
    expect(existsSync(target)).toBe(false)
  })

  test('a command reports that the owner cannot reach the folder, as with DynamicUser=', async () => {
    const parent = stage.folder()
    chmodSync(parent, 0o700)
    const dataDir = join(parent, 'box')
    expect((await addUser(dataDir)).code).toBe(0)
    giveAll(dataDir, ANN)
    const { code, stderr } = await runBinary(['user', 'list', '--data-dir', dataDir])
    expect(code).toBe(1)
    expect(stderr).toContain('DynamicUser')
    expect(ownersOf(dataDir)).toEqual(new Set([ANN]))
  })

  test('the message for another user names the owner of the folder, and does not say that there is no data', async () => {
    const dataDir = await usedFolder()
    for (const args of [
      ['user', 'list'],
      ['serve', '--port', '0'],
      ['user', 'add', 'a@b.c', '--password-stdin'],
    ]) {
      const { code, stderr } = await runAs(ANN, [...args, '--data-dir', dataDir])
      expect(code).toBe(1)
      expect(stderr).toContain(`${dataDir} belongs to root (uid 0), and this runs as the user ${ANN}.`)
      expect(stderr).not.toContain('no Oncebox data')
    }
  })

  test('the message for an unreadable folder says that it is unreadable', async () => {
    const parent = stage.folder()
    chmodSync(parent, 0o700)
    const dataDir = join(parent, 'box')
    expect((await addUser(dataDir)).code).toBe(0)
    const { code, stderr } = await runAs(ANN, ['user', 'list', '--data-dir', dataDir])
    expect(code).toBe(1)
    expect(stderr).toContain(`Cannot read ${dataDir}: permission denied.`)
    const locked = newFolder()
    mkdirSync(locked)
    new Database(join(locked, 'oncebox.db')).run('PRAGMA user_version = 1')
    giveAll(locked, ANN)
    chmodSync(locked, 0)
    expect((await runAs(ANN, ['user', 'list', '--data-dir', locked])).stderr).toContain(
      `Cannot read ${locked}: permission denied.`,
    )
  })
})
