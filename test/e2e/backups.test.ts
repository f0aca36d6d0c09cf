// A server process with --backup-dir: its backups can be restored, and whatever happens to their disk or
// process, the server keeps running, stops before the timeout, and leaves nothing behind.

import { afterEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeOld } from '../support/backup.ts'
import { BINARY, createStage, runBinary, type Started } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

const isLinux = process.platform === 'linux'
const stage = createStage()
const mounts: { remove: () => void }[] = []
afterEach(async () => {
  await stage.clear()
  for (const mount of mounts.splice(0)) mount.remove()
})

/** Waits for as long as a busy machine needs. */
async function until<T>(find: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const end = performance.now() + 120_000; performance.now() < end; await Bun.sleep(20)) {
    const found = await find()
    if (found) return found
  }
  throw new Error(`waited in vain: ${find}`)
}

const wholeIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => /\.tar(\.age)?$/.test(name))
    .sort()
const partsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.part'))

type Options = { folder: string; every?: string; keep?: string; dataDir?: string; more?: string[] }

function start({ folder, every = '1s', keep = '3', dataDir, more = [] }: Options): Promise<Started> {
  const flags = ['--backup-dir', folder, '--backup-every', every, '--backup-keep', keep, ...more]
  return stage.start(dataDir === undefined ? { flags } : { flags, dataDir })
}

async function backupPart(server: Started): Promise<string> {
  const { checks } = await (await server.ask('/readyz')).json()
  return checks.backup
}

/** Returns the children of a process. */
function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((child) => parentOf(child) === pid)
}

/** Returns null for a process that has ended. */
function parentOf(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // Ignore a zombie: the process has ended, and its parent has not waited for it yet.
    return state === 'Z' ? null : Number(parent)
  } catch {
    return null
  }
}

/**
 * Stops (SIGSTOP) the server's child process while it makes a backup, to imitate a hanging disk. Returns its
 * id.
 */
async function freezeWriter(folder: string, server: Started): Promise<number> {
  for (const end = performance.now() + 120_000; performance.now() < end; await Bun.sleep(0)) {
    const [, pid] = /-(\d+)\.part$/.exec(partsIn(folder)[0] ?? '') ?? []
    if (pid === undefined || !sendSignal(Number(pid), 'SIGSTOP')) continue
    await Bun.sleep(50)
    const isWriting = partsIn(folder).length > 0 && niceOf(Number(pid)) === Math.max(5, niceOf(server.pid))
    if (isWriting) return Number(pid)
    // This backup may be almost complete: let it end, because no other begins before.
    sendSignal(Number(pid), 'SIGCONT')
  }
  throw new Error('no backup was caught while it was written')
}

function niceOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
}

/** Whether the process exists. */
function sendSignal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

async function expectToWork(server: Started): Promise<void> {
  const made = await server.create({ payload: 'x', expire_after_views: 1 })
  expect(made.status).toBe(201)
  const { url_token } = await made.json()
  expect(await (await server.retrieve(url_token)).json()).toMatchObject({ payload: 'x' })
}

describe('backups', () => {
  test('are made on schedule and can be restored, and the oldest are removed', async () => {
    const folder = join(stage.folder(), 'made')
    const server = await start({ folder, keep: '2' })
    expect((await server.create({ payload: 'x' })).status).toBe(201)
    const first = await until(() => (existsSync(folder) ? wholeIn(folder)[0] : null))
    await until(() => !wholeIn(folder).includes(first))
    expect(await backupPart(server)).toBe('ok')
    expect(await server.end()).toBe(0)
    // There is one more if the server stopped after making the newest and before removing the oldest.
    expect(wholeIn(folder).length).toBeWithin(2, 4)
    expect(partsIn(folder)).toEqual([])
    const { code, stdout, stderr } = await runBinary([
      'backup',
      'verify',
      join(folder, wholeIn(folder)[0] ?? ''),
    ])
    expect({ code, said: `${stdout}${stderr}` }).toMatchObject({ code: 0 })
  }, 600_000)

  test('contain the key in the clear only without --backup-recipient, and the start warns of it', async () => {
    const [folder, sealed] = [stage.folder(), stage.folder()]
    const server = await start({ folder })
    await server.untilLogged('hold the instance key')
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
    const careful = await start({ folder: sealed, more: ['--backup-recipient', recipient] })
    expect(careful.stderr()).not.toContain('hold the instance key')
    await until(() => wholeIn(folder)[0] && wholeIn(sealed)[0])
    expect(readFileSync(join(folder, wholeIn(folder)[0] ?? '')).includes('instance.key')).toBe(true)
    expect(wholeIn(sealed)[0]).toEndWith('.tar.age')
    const text = readFileSync(join(sealed, wholeIn(sealed)[0] ?? '')).toString('latin1')
    expect([text.startsWith('age-encryption.org/v1'), text.includes('instance.key')]).toEqual([true, false])
  }, 600_000)

  test('of two servers can share a folder with each other and with unrelated files', async () => {
    const folder = stage.folder()
    const foreign = [
      'photo.jpg',
      'oncebox-backup-2020-01-01T00-00-00Z-aaaaaa.tar',
      'oncebox-backup-2020-01-01T00-00-00Z.tar',
    ]
    for (const name of foreign) writeFileSync(join(folder, name), 'mine')
    const servers = [await start({ folder, keep: '2' }), await start({ folder, keep: '2' })]
    const made = () => servers.map((server) => (server.stderr().match(/made a backup/g) ?? []).length)
    await until(() => made().every((times) => times >= 5))
    await Promise.all(servers.map((server) => server.end()))
    const names = readdirSync(folder)
    for (const name of foreign) expect(names).toContain(name)
    // Two for each server, and one more if it stopped before removing the oldest.
    expect(wholeIn(folder).length - 2).toBeWithin(4, 7)
    expect(partsIn(folder)).toEqual([])
  }, 600_000)

  test('are not repeated right after a restart of the server', async () => {
    const folder = stage.folder()
    const server = await start({ folder, every: '5s' })
    await until(() => wholeIn(folder)[0])
    await server.end('SIGKILL')
    const before = wholeIn(folder)
    const again = await start({ folder, every: '1d', dataDir: server.dataDir })
    await until(async () => (await backupPart(again)) === 'ok')
    await Bun.sleep(3_000)
    expect(wholeIn(folder)).toEqual(before)
  }, 600_000)
})

describe.if(isLinux)('the process that makes them', () => {
  test('has a low priority and no secrets, and leaves no partial backup when it is killed with the server', async () => {
    const folder = stage.folder()
    const more = ['--metrics-listen', '127.0.0.1:0']
    const server = await start({ folder, more })
    const writer = await freezeWriter(folder, server)
    expect(childrenOf(server.pid)).toEqual([writer])
    expect(readFileSync(`/proc/${writer}/environ`, 'utf8')).not.toMatch(/ONCEBOX|HOME/)
    await server.end('SIGKILL')
    process.kill(writer, 'SIGKILL')
    await until(() => parentOf(writer) === null)
    expect(partsIn(folder)).toHaveLength(1)
    for (const name of partsIn(folder)) makeOld(join(folder, name))
    for (const name of wholeIn(folder))
      expect(await runBinary(['backup', 'verify', join(folder, name)])).toMatchObject({ code: 0 })
    const again = await start({ folder, dataDir: server.dataDir })
    await until(() => !partsIn(folder).some((name) => name.endsWith(`-${writer}.part`)))
    await expectToWork(again)
  }, 600_000)

  test('may hang: the server keeps working and stops before the timeout, and the next backup cleans up', async () => {
    const folder = stage.folder()
    const server = await start({ folder })
    const writer = await freezeWriter(folder, server)
    await expectToWork(server)
    expect(await server.end()).toBe(0)
    expect(parentOf(writer)).toBeNull()
    for (const name of partsIn(folder)) makeOld(join(folder, name))
    const again = await start({ folder, dataDir: server.dataDir })
    await until(() => !partsIn(folder).some((name) => name.endsWith(`-${writer}.part`)))
    expect(await again.end()).toBe(0)
  }, 600_000)

  test('leaves nothing if the server is stopped in the middle of a backup', async () => {
    const folder = stage.folder()
    for (let round = 0; round < 5; round += 1) {
      const server = await start({ folder })
      for (const end = performance.now() + 120_000; performance.now() < end; await Bun.sleep(0))
        if (partsIn(folder).length > 0) break
      expect(await server.end()).toBe(0)
      expect([partsIn(folder), childrenOf(server.pid)]).toEqual([[], []])
    }
  }, 600_000)

  test('is the running program, even if its file was removed', async () => {
    const folder = stage.folder()
    const program = join(stage.folder(), 'oncebox')
    copyFileSync(BINARY, program)
    const dataDir = stage.folder()
    const flags = ['--data-dir', dataDir, '--port', '0', '--min-free-space', '0', '--backup-dir', folder]
    const child = Bun.spawn([program, 'serve', ...flags, '--backup-every', '1s'], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    try {
      await until(() => wholeIn(folder)[0])
      rmSync(program)
      const before = wholeIn(folder)
      await until(() => wholeIn(folder).some((name) => !before.includes(name)))
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
  }, 600_000)
})

describe('a folder', () => {
  test('that is missing is reported, and used again once it is back', async () => {
    const folder = stage.folder()
    const server = await start({ folder })
    await until(() => wholeIn(folder)[0])
    renameSync(folder, `${folder}-gone`)
    expect(await until(async () => /No backup was made/.exec(await backupPart(server))?.input)).toContain(
      'Mount the disk, or make the folder',
    )
    expect((await server.ask('/readyz')).status).toBe(200)
    await expectToWork(server)
    renameSync(`${folder}-gone`, folder)
    await until(async () => (await backupPart(server)) === 'ok')
    // There is one more if the folder vanished while a backup was written.
    expect(server.stderr().match(/could not make a backup/g)?.length).toBeWithin(1, 3)
  }, 600_000)

  needs('mount').test(
    'whose disk is not mounted stays empty, and takes backups again with another disk in its place',
    async () => {
      const disk = mountSmallDisk('8m')
      mounts.push(disk)
      const server = await start({ folder: disk.path })
      // The second backup shows that the first was recorded.
      await until(() => wholeIn(disk.path)[1])
      // The disk is busy while a backup is being written: retry.
      await until(() => Bun.spawnSync(['umount', disk.path]).success)
      const told = await until(
        async () => /is now on the disk of the data/.exec(await backupPart(server))?.input,
      )
      expect(told).toContain('Mount its disk, or name another folder with --backup-dir.')
      expect(readdirSync(disk.path)).toEqual([])
      await expectToWork(server)
      Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk.path])
      await until(() => wholeIn(disk.path)[0])
      await until(async () => (await backupPart(server)) === 'ok')
      expect(await server.end()).toBe(0)
    },
    600_000,
  )

  needs('mount').test(
    'that is full is reported, and used again once there is room',
    async () => {
      const disk = mountSmallDisk('128k')
      mounts.push(disk)
      const server = await start({ folder: disk.path })
      expect(await until(async () => /No backup was made/.exec(await backupPart(server))?.input)).toContain(
        'lower --backup-keep',
      )
      await expectToWork(server)
      // The server retries each second.
      await until(() => partsIn(disk.path).length === 0)
      expect(Bun.spawnSync(['mount', '-o', 'remount,size=8m', disk.path]).success).toBe(true)
      await until(async () => (await backupPart(server)) === 'ok')
      expect(await server.end()).toBe(0)
    },
    600_000,
  )

  needs('mount').test(
    'that is read-only is reported with the remedy',
    async () => {
      const disk = mountSmallDisk('8m')
      mounts.push(disk)
      const server = await start({ folder: disk.path })
      // The second backup shows that the first was recorded.
      await until(() => wholeIn(disk.path)[1])
      // The disk is busy while a backup is being written: retry.
      await until(() => Bun.spawnSync(['mount', '-o', 'remount,ro', disk.path]).success)
      expect(await until(async () => /No backup was made/.exec(await backupPart(server))?.input)).toContain(
        'for writing',
      )
      await expectToWork(server)
    },
    600_000,
  )
})
