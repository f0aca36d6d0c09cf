// The program replaces itself by a signed release that starts on this machine, atomically, and can restore
// the former one.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage } from '../support/binary.ts'
import { createSigner } from '../support/release-signing.ts'

const PASSWORD = 'correct horse battery'
const stage = createStage()
afterEach(stage.clear)

const { publicKey, signBytes } = createSigner()
const own = `${process.platform === 'darwin' ? 'macos' : process.platform}-${process.arch}`
/** A release that is refused before it would be started. */
const SMALL = Buffer.alloc(8192, 'a release ')

/** Sets up a program in a folder of its own, with data, and a release of version 99 beside it. */
async function install(bytes: Uint8Array = SMALL) {
  const folder = stage.folder()
  chmodSync(folder, 0o755)
  const program = join(folder, 'oncebox')
  const dataDir = join(folder, 'data')
  link(BINARY, program)
  const release = join(folder, 'release')
  writeFileSync(release, bytes)
  const sign = (comment: string) => writeFileSync(`${release}.minisig`, signBytes(bytes, comment))
  sign(`oncebox 99.0.0 ${own}`)
  const run = (args: string[], input = '') => runProgram(program, [...args, '--data-dir', dataDir], input)
  await run(['user', 'add', 'ann@example.org', '--password-stdin'], PASSWORD)
  const upgrade = (...args: string[]) =>
    run(['upgrade', ...(args.length > 0 ? args : [release]), '--public-key', publicKey])
  return { folder, program, dataDir, release, sign, run, upgrade }
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

async function runProgram(program: string, args: string[], input = '') {
  const child = Bun.spawn([program, ...args], {
    ...{ stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' },
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent' },
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, code }
}

const programsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith('oncebox'))
    .sort()

test('a release replaces the program while the server runs, and the former program can be restored', async () => {
  const { folder, program, dataDir, run, upgrade } = await install(readFileSync(BINARY))
  const server = await stage.start({ dataDir })
  const { stdout, stderr, code } = await upgrade()
  expect([code, stderr]).toEqual([0, expect.stringContaining('starting the new program')])
  expect(stdout).toContain(`${program} is Oncebox 99.0.0 now`)
  expect(stdout).toContain('restart it')
  expect(programsIn(folder)).toEqual(['oncebox', 'oncebox.old'])
  expect((await server.ask('/up')).status).toBe(200)

  const back = await run(['upgrade', '--back'])
  expect(back.stdout).toContain('again')
  expect(programsIn(folder)).toEqual(['oncebox'])
  expect((await run(['upgrade', '--back'])).stderr).toContain('There is no former program')
}, 180_000)

test('with PostgreSQL, the program is replaced and restored as well', async () => {
  const { release, run, upgrade } = await install(readFileSync(BINARY))
  const server = ['--database-url', 'postgres://oncebox@db.example/boxes']
  const { stdout, code } = await upgrade(release, ...server)
  expect(code).toBe(0)
  expect(stdout).toContain('Upgrade the other nodes as well')
  expect((await run(['upgrade', '--back', ...server])).stdout).toContain('again')
}, 180_000)

test('kill -9 during an upgrade leaves the program, and the next upgrade removes the leftovers', async () => {
  const { folder, program, dataDir, release, upgrade } = await install()
  // A program that does not end while it has a reader keeps the upgrade busy.
  const endless = Buffer.from('#!/bin/sh\nwhile echo; do sleep 0.1; done\n')
  writeFileSync(release, endless)
  writeFileSync(`${release}.minisig`, signBytes(endless, `oncebox 99.0.0 ${own}`))
  const child = Bun.spawn([program, 'upgrade', release, '--public-key', publicKey, '--data-dir', dataDir], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  })
  const decoder = new TextDecoder()
  let said = ''
  for await (const piece of child.stderr) {
    said += decoder.decode(piece)
    if (said.includes('starting the new program')) break
  }
  child.kill('SIGKILL')
  await child.exited
  expect(programsIn(folder).length).toBe(2)
  expect((await runProgram(program, ['--version'])).code).toBe(0)
  writeFileSync(`${release}.minisig`, 'no signature')
  expect((await upgrade()).code).toBe(1)
  expect(programsIn(folder)).toEqual(['oncebox'])
}, 180_000)

test('a program built without release keys refuses every release', async () => {
  const { folder, release, run } = await install()
  const { code, stderr } = await run(['upgrade', release])
  expect([code, stderr]).toEqual([1, expect.stringContaining('--public-key')])
  expect(programsIn(folder)).toEqual(['oncebox'])
})

describe('nothing changes when a release is refused', () => {
  type Installed = Awaited<ReturnType<typeof install>>
  test.each<[string, (installed: Installed) => void, string]>([
    [
      'whose signed comment was changed',
      ({ release }) => {
        const text = readFileSync(`${release}.minisig`, 'utf8')
        writeFileSync(`${release}.minisig`, text.replace('99.0.0', '99.0.1'))
      },
      'was changed after it was signed',
    ],
    [
      'that was changed',
      ({ release }) => {
        writeFileSync(release, SMALL.subarray(0, 4096))
      },
      'is not the file that was signed',
    ],
    [
      'that is empty',
      ({ release }) => {
        writeFileSync(release, '')
      },
      'is not the file that was signed',
    ],
    [
      'of another key',
      ({ release }) =>
        writeFileSync(`${release}.minisig`, createSigner().signBytes(SMALL, `oncebox 99.0.0 ${own}`)),
      'signed by another key',
    ],
    ['without a signature', ({ release }) => rmSync(`${release}.minisig`), 'There is no'],
    [
      'whose signature is cut off',
      ({ release }) => truncateSync(`${release}.minisig`, 100),
      'is not a signature',
    ],
    ['for another system', ({ sign }) => sign('oncebox 99.0.0 windows-x64'), 'is built for windows-x64'],
    ['that is older', ({ sign }) => sign(`oncebox 2.9.9 ${own}`), 'is older than'],
    [
      'that does not tell what it is',
      ({ sign }) => sign('a good program'),
      'does not tell version and system',
    ],
    [
      'that is a symlink',
      ({ release }) => {
        rmSync(release)
        symlinkSync(BINARY, release)
      },
      'is a symlink',
    ],
    [
      'that is a folder',
      ({ release }) => {
        rmSync(release)
        mkdirSync(release)
      },
      'is not a plain file',
    ],
    [
      'that cannot run here',
      ({ release }) => {
        const broken = Buffer.from('#!/bin/sh\necho it is broken; exit 3\n')
        writeFileSync(release, broken)
        writeFileSync(`${release}.minisig`, signBytes(broken, `oncebox 99.0.0 ${own}`))
      },
      'it is broken',
    ],
    [
      'that is no program',
      ({ release }) => {
        const broken = Buffer.alloc(4096, 7)
        writeFileSync(release, broken)
        writeFileSync(`${release}.minisig`, signBytes(broken, `oncebox 99.0.0 ${own}`))
      },
      'does not run on this system',
    ],
    [
      'in a place where everybody may write',
      ({ folder }) => chmodSync(folder, 0o777),
      'Every user of this machine may write to',
    ],
  ])(
    '%s',
    async (_, spoil, reason) => {
      const installed = await install()
      spoil(installed)
      const { code, stderr } = await installed.upgrade()
      expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
      expect(programsIn(installed.folder)).toEqual(['oncebox'])
      expect((await installed.run(['user', 'list'])).stdout).toContain('ann@example.org')
    },
    180_000,
  )
})

describe('data that an update has changed', () => {
  async function makeNewer() {
    const installed = await install()
    copyFileSync(BINARY, `${installed.program}.old`)
    const openDatabase = () => new Database(join(installed.dataDir, 'oncebox.db'))
    const database = openDatabase()
    const [row] = database.query<{ user_version: number }, []>('PRAGMA user_version').all()
    const copy = join(installed.dataDir, `before-update-from-${row?.user_version}.db`)
    database.run('VACUUM INTO ?', [copy])
    database.close()
    /** Changes the database as a migration of a later version would. */
    const end = () => {
      const migrated = openDatabase()
      migrated.run('PRAGMA busy_timeout = 5000')
      migrated.run('PRAGMA user_version = 999')
      migrated.close()
    }
    return { ...installed, copy, end }
  }

  test('prevents a return to the former program if no copy of the database is left', async () => {
    const { run, copy, end } = await makeNewer()
    rmSync(copy)
    end()
    const { code, stderr } = await run(['upgrade', '--back', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('its schema is version 999')])
    expect(stderr).toContain('Nothing was changed')
  })

  test('is rolled back to the copy from before the update, after a confirmation', async () => {
    const { folder, dataDir, run, copy, end } = await makeNewer()
    end()
    const asked = await run(['upgrade', '--back'])
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('add --yes')])
    expect(asked.stderr).toContain('Every push is expired')
    expect(programsIn(folder)).toEqual(['oncebox', 'oncebox.old'])
    expect(existsSync(copy)).toBe(true)
    const back = await run(['upgrade', '--back', '--yes'])
    expect([back.code, back.stdout]).toEqual([0, expect.stringContaining('again')])
    expect(programsIn(folder)).toEqual(['oncebox'])
    expect(existsSync(copy)).toBe(false)
    expect((await run(['user', 'list'])).stdout).toContain('ann@example.org')
    const server = await stage.start({ dataDir })
    expect((await server.ask('/up')).status).toBe(200)
  }, 180_000)

  test('is not rolled back while a server uses it', async () => {
    const { folder, dataDir, run, copy, end } = await makeNewer()
    const server = await stage.start({ dataDir })
    writeFileSync(copy, '')
    end()
    const { code, stderr } = await run(['upgrade', '--back', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('Stop it')])
    expect(programsIn(folder)).toEqual(['oncebox', 'oncebox.old'])
    expect((await server.ask('/up')).status).toBe(200)
  }, 180_000)
})
