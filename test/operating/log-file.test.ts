// The log in a file: what is written reaches it, across rotations and a disk that refuses.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogFile } from '../../src/operating/log-file.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'
import { waitUntil } from '../support/waiting.ts'

let folder = ''
let path = ''
let problems: string[] = []
let fallen = ''
const onError = (problem: string) => problems.push(problem)
const fallBack = (lines: string) => {
  fallen += lines
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-log-'))
  path = join(folder, 'oncebox.log')
  problems = []
  fallen = ''
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('only its owner can read the file, and earlier lines stay', async () => {
  const first = await openLogFile({ path, onError, fallBack })
  first.write('one')
  await first.close()
  const second = await openLogFile({ path, onError, fallBack })
  second.write('two')
  second.write('three')
  await second.close()
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

needs('mkfifo').test(
  'a pipe is refused, at the start and at a reload, instead of waiting for its reader',
  async () => {
    const log = await openLogFile({ path, onError, fallBack })
    rmSync(path)
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
    await expect(log.reopen()).rejects.toThrow('is a pipe')
    await expect(openLogFile({ path, onError, fallBack })).rejects.toThrow('is a pipe')
    log.write('to the old file')
    await log.close()
  },
)

test('after a rotation, lines go to the old file until the log is reopened, and none is lost', async () => {
  const log = await openLogFile({ path, onError, fallBack })
  log.write('before')
  renameSync(path, `${path}.1`)
  log.write('between')
  await log.reopen()
  log.write('after')
  await log.close()
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('before\nbetween\n')
  expect(readFileSync(path, 'utf8')).toBe('after\n')
})

test('if reopening fails, the log continues in the old file and says what to do', async () => {
  const log = await openLogFile({ path, onError, fallBack })
  renameSync(path, `${path}.1`)
  mkdirSync(path)
  await expect(log.reopen()).rejects.toThrow(/Cannot open the log file .*: it is a folder\. Make its folder/)
  log.write('still here')
  await log.close()
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('still here\n')
})

test('a path that cannot be opened is refused with a remedy', async () => {
  const missing = join(folder, 'nowhere', 'oncebox.log')
  await expect(openLogFile({ path: missing, onError, fallBack })).rejects.toThrow(
    /Cannot open the log file .*there is no such file or folder\. Make its folder/,
  )
})

test('lines that a full disk refuses go to standard error, which is reported once', async () => {
  if (!existsSync('/dev/full')) return
  const log = await openLogFile({ path: '/dev/full', onError, fallBack })
  for (const line of ['a', 'b', 'c']) {
    log.write(line)
    await waitUntil(() => fallen.endsWith(`${line}\n`))
  }
  const failure =
    'The log file /dev/full cannot be written: the disk is full. Make room, or repair its disk. Until then standard error has the lines.'
  expect(problems).toEqual([failure])
  expect(fallen).toBe('a\nb\nc\n')
  expect(await log.findProblem()).toBe(failure)
  await log.close()
})

needs('mount').test('a disk that fills up in the middle of a line leaves whole lines', async () => {
  const disk = mountSmallDisk('16k')
  const small = join(disk.path, 'audit.log')
  const room = join(disk.path, 'room')
  writeFileSync(room, 'x'.repeat(4096))
  const log = await openLogFile({ path: small, onError, fallBack })
  const line = (n: number) => JSON.stringify({ n, text: 'x'.repeat(990) })
  for (let n = 0; fallen === ''; n += 1) {
    log.write(line(n))
    await Bun.sleep(5)
  }
  rmSync(room)
  log.write(line(99))
  await waitUntil(() => problems.length === 2)
  await log.close()
  const read = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one).n as number)
  const text = readFileSync(small, 'utf8')
  disk.remove()
  const [kept, lost] = [read(text), read(fallen)]
  expect(kept.slice(0, -1).concat(lost)).toEqual(
    Array.from({ length: kept.length - 1 + lost.length }, (_, n) => n),
  )
  expect([kept.at(-1), log.countLost()]).toEqual([99, lost.length])
})

test('a removed file is created again with the next line', async () => {
  const log = await openLogFile({ path, onError, fallBack })
  log.write('before')
  await waitUntil(() => readFileSync(path, 'utf8') !== '')
  expect(await log.findProblem()).toBeNull()
  rmSync(path)
  expect(await log.findProblem()).toBe(
    `The log file ${path} was moved or removed, and not opened again: send SIGHUP.`,
  )
  log.write('after')
  await waitUntil(() => existsSync(path) && readFileSync(path, 'utf8') !== '')
  expect([readFileSync(path, 'utf8'), fallen, await log.findProblem()]).toEqual(['after\n', '', null])
  await log.close()
})

test('without its folder the log continues on standard error, and in the file once the folder is back', async () => {
  const inside = join(folder, 'logs', 'oncebox.log')
  mkdirSync(join(folder, 'logs'))
  const log = await openLogFile({ path: inside, onError, fallBack })
  rmSync(join(folder, 'logs'), { recursive: true })
  await expect(log.reopen()).rejects.toThrow('Cannot open the log file')
  for (const line of ['one', 'two']) {
    log.write(line)
    await waitUntil(() => fallen.endsWith(`${line}\n`))
  }
  expect(await log.findProblem()).toContain('Cannot open the log file')
  mkdirSync(join(folder, 'logs'))
  log.write('three')
  await log.close()
  expect([fallen, readFileSync(inside, 'utf8')]).toEqual(['one\ntwo\n', 'three\n'])
  expect(problems).toEqual([
    expect.stringContaining('Until then standard error has the lines.'),
    `The log file ${inside} takes lines again.`,
  ])
})

test('waiting lines are written when the process ends without closing', async () => {
  const log = await openLogFile({ path, onError, fallBack })
  log.write('the last words')
  log.flushNow()
  expect(readFileSync(path, 'utf8')).toBe('the last words\n')
  await log.close()
  expect(readFileSync(path, 'utf8')).toBe('the last words\n')
})

const NOBODY = 65534

needs('root').test(
  'a file of another user is refused, at the start and at a reload, and not changed',
  async () => {
    const log = await openLogFile({ path, onError, fallBack })
    rmSync(path)
    writeFileSync(path, 'of another\n')
    chownSync(path, NOBODY, NOBODY)
    await expect(log.reopen()).rejects.toThrow(
      /log file .* belongs to .*65534.*who put it there may read what is in it/,
    )
    await expect(openLogFile({ path, onError, fallBack })).rejects.toThrow('belongs to')
    log.write('to the old file')
    await log.close()
    expect(readFileSync(path, 'utf8')).toBe('of another\n')
  },
)

needs('root').test('a symlink of another user is refused, a dangling one too', async () => {
  const target = join(folder, 'target')
  symlinkSync(target, path)
  lchownSync(path, NOBODY, NOBODY)
  await expect(openLogFile({ path, onError, fallBack })).rejects.toThrow('belongs to')
  expect(existsSync(target)).toBe(false)
  writeFileSync(target, 'mine\n')
  await expect(openLogFile({ path, onError, fallBack })).rejects.toThrow('belongs to')
  expect(readFileSync(target, 'utf8')).toBe('mine\n')
})

test('a symlink of the same user is followed', async () => {
  const target = join(folder, 'target')
  symlinkSync(target, path)
  const log = await openLogFile({ path, onError, fallBack })
  log.write('one')
  await log.close()
  expect(readFileSync(target, 'utf8')).toBe('one\n')
})
