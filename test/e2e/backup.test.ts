// Backups by the compiled program: beside a server, by root for another user, and to a disk or reader that
// fails.

import { afterEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { countPushes, readMembers } from '../support/backup.ts'
import { BINARY, createStage, runBinary, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

const stage = createStage()
const disks: { remove(): void }[] = []

afterEach(async () => {
  await stage.clear()
  for (const disk of disks.splice(0)) disk.remove()
})

const SECRET = 'a payload that is in no backup'

async function fill(server: Started, pushes = 40): Promise<void> {
  for (let n = 0; n < pushes; n += 1)
    expect((await server.create({ payload: `${SECRET} ${n}` })).status).toBe(201)
}

const backUp = (server: Pick<Started, 'dataDir'>, ...args: string[]) =>
  runBinary(['backup', ...args, '--data-dir', server.dataDir, '--min-free-space', '0'])

/** Temporary files that a backup must never leave in a data folder. */
const leftovers = (path: string) => readdirSync(path).filter((name) => /backup|part/.test(name))

test("a backup beside a server contains all acknowledged changes and the server's settings", async () => {
  const server = await stage.start({ flags: ['--notice', 'back at nine'] })
  await fill(server)
  const room = stage.folder()
  const file = join(room, 'b.tar')
  const { code, stdout, stderr } = await backUp(server, file)
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('the instance key is in this backup'),
  })
  expect(stdout).toContain('40 pushes')
  expect(stdout).toContain('the settings of the running server')
  const { members } = await readMembers(readFileSync(file))
  expect(await countPushes(file)).toBe(40)
  expect(members['settings.json']?.toString()).toContain('back at nine')
  expect(readdirSync(room)).toEqual(['b.tar'])
  expect(leftovers(server.dataDir)).toEqual([])
  const again = await backUp(server, file)
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('a backup never overwrites a file')
})

needs('age').test('the program age opens an encrypted backup', async () => {
  const server = await stage.start()
  await fill(server, 3)
  const room = stage.folder()
  const identity = await generateX25519Identity()
  writeFileSync(join(room, 'key'), `${identity}\n`, { mode: 0o600 })
  const file = join(room, 'b.tar.age')
  expect((await backUp(server, file, '--recipient', await identityToRecipient(identity))).code).toBe(0)
  const opened = Bun.spawnSync(['age', '--decrypt', '-i', join(room, 'key'), file])
  expect(opened.stderr.toString()).toBe('')
  writeFileSync(join(room, 'b.tar'), opened.stdout)
  expect(await countPushes(join(room, 'b.tar'))).toBe(3)
})

needs('bash', 'tar').test(
  'a backup is streamed to a reader, and ends when the reader closes the pipe',
  async () => {
    const server = await stage.start()
    await fill(server)
    const shell = (pipeline: string) => Bun.spawnSync(['bash', '-c', `set -o pipefail; ${pipeline}`])
    const command = `${BINARY} backup - --data-dir ${server.dataDir} --min-free-space 0`
    const listed = shell(`${command} | tar -tf -`)
    expect(listed.stdout.toString()).toBe('manifest.json\nsettings.json\ninstance.key\noncebox.db\n')
    const broken = shell(`${command} | head -c 1000 > /dev/null`)
    expect(broken.exitCode).toBe(1)
    expect(broken.stderr.toString()).toContain('nobody reads its output any more')
    expect(leftovers(server.dataDir)).toEqual([])
  },
)

test('a stalled reader does not block the server, and leaves nothing in its folder', async () => {
  const server = await stage.start()
  await fill(server)
  const child = Bun.spawn([BINARY, 'backup', '-', '--data-dir', server.dataDir, '--min-free-space', '0'], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.getReader()
  await reader.read()
  if (process.platform === 'linux') {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]).toBe(String(Math.max(5, getPriority())))
  }
  expect(leftovers(server.dataDir)).toEqual([])
  await fill(server, 5)
  // A snapshot that is still open would prevent SQLite from truncating the WAL.
  const log = join(server.dataDir, 'oncebox.db-wal')
  const burned = await (await server.create({ payload: SECRET, expire_after_views: 1 })).json()
  await server.retrieve(burned.url_token)
  while (statSync(log).size > 0) await Bun.sleep(100)
  child.kill('SIGKILL')
  await child.exited
})

needs('mount').describe('on small disks', () => {
  test('a full destination is reported, and nothing is left there', async () => {
    const server = await stage.start()
    await fill(server)
    const disk = mountSmallDisk('100k')
    disks.push(disk)
    const { code, stderr } = await backUp(server, join(disk.path, 'b.tar'))
    expect(code).toBe(1)
    expect(stderr).toContain(`The disk of ${disk.path}/b.tar has no room for this backup`)
    expect(readdirSync(disk.path)).toEqual([])
    expect(leftovers(server.dataDir)).toEqual([])
  })

  test('a data folder without room for the copy is reported, and its server keeps running', async () => {
    const disk = mountSmallDisk('24m')
    disks.push(disk)
    const dataDir = join(disk.path, 'data')
    mkdirSync(dataDir)
    const server = await stage.start({ dataDir })
    await fill(server)
    const { bavail, bsize } = statfsSync(disk.path)
    writeFileSync(join(disk.path, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - 200 * 1024)))
    const { code, stderr } = await backUp(server, join(stage.folder(), 'b.tar'))
    expect(code).toBe(1)
    expect(stderr).toContain(`The disk of ${dataDir} has no room for the copy of the database`)
    expect(leftovers(dataDir)).toEqual([])
    expect((await server.ask('/up')).status).toBe(200)
  })
})

needs('root', 'setpriv').describe('run by root', () => {
  const NOBODY = 65_534
  const as = (...command: string[]) => [
    'setpriv',
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    ...command,
  ]

  test("root backs up another user's folder to any path, without leaving root's files in the folder", async () => {
    const dataDir = stage.folder()
    chownSync(dataDir, NOBODY, NOBODY)
    const made = Bun.spawnSync(
      as(BINARY, 'user', 'add', 'ann@example.org', '--password-stdin', '--data-dir', dataDir),
      { stdin: Buffer.from('correct horse battery'), cwd: '/' },
    )
    expect(made.exitCode).toBe(0)
    const room = stage.folder()
    chmodSync(room, 0o700)
    const { code } = await backUp({ dataDir }, join(room, 'b.tar'))
    expect(code).toBe(0)
    expect(statSync(join(room, 'b.tar')).uid).toBe(0)
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).uid).toBe(NOBODY)
  })

  test('another user is refused, and gets no file', async () => {
    const server = await stage.start()
    const room = stage.folder()
    chownSync(room, NOBODY, NOBODY)
    chmodSync(server.dataDir, 0o755)
    const file = join(room, 'b.tar')
    const { exitCode, stderr } = Bun.spawnSync(as(BINARY, 'backup', file, '--data-dir', server.dataDir), {
      cwd: '/',
    })
    expect(exitCode).toBe(1)
    expect(stderr.toString()).toContain('belongs to root')
    expect(existsSync(file)).toBe(false)
    expect(readdirSync(room)).toEqual([])
  })
})
