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
import { waitUntil } from '../support/waiting.ts'

let folder = ''
let path = ''
let problems: string[] = []
const onError = (problem: string) => problems.push(problem)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-log-'))
  path = join(folder, 'oncebox.log')
  problems = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('only its owner may read the file, and earlier lines stay', async () => {
  const first = await openLogFile({ path, onError })
  first.write('one')
  await first.close()
  const second = await openLogFile({ path, onError })
  second.write('two')
  second.write('three')
  await second.close()
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a pipe is refused, at the start and at a reload, instead of waiting for its reader', async () => {
  const log = await openLogFile({ path, onError })
  rmSync(path)
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
  await expect(log.reopen()).rejects.toThrow('is a pipe')
  await expect(openLogFile({ path, onError })).rejects.toThrow('is a pipe')
  log.write('to the old file')
  await log.close()
})

test('after a rotation, lines go to the old file until the log is reopened, and none is lost', async () => {
  const log = await openLogFile({ path, onError })
  log.write('before')
  renameSync(path, `${path}.1`)
  log.write('between')
  await log.reopen()
  log.write('after')
  await log.close()
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('before\nbetween\n')
  expect(readFileSync(path, 'utf8')).toBe('after\n')
})

test('when reopening fails, the log continues in the old file and says what to do', async () => {
  const log = await openLogFile({ path, onError })
  renameSync(path, `${path}.1`)
  mkdirSync(path)
  await expect(log.reopen()).rejects.toThrow(/Cannot open the log file .*: it is a folder\. Make its folder/)
  log.write('still here')
  await log.close()
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('still here\n')
})

test('a path that cannot be opened is refused with a remedy', async () => {
  const missing = join(folder, 'nowhere', 'oncebox.log')
  await expect(openLogFile({ path: missing, onError })).rejects.toThrow(
    /Cannot open the log file .*there is no such file or folder\. Make its folder/,
  )
})

test('lost lines are reported once, and their number as soon as there is room', async () => {
  if (!existsSync('/dev/full')) return
  const log = await openLogFile({ path: '/dev/full', onError })
  for (const line of ['a', 'b', 'c']) {
    log.write(line)
    await waitUntil(() => problems.length > 0)
  }
  expect(problems).toEqual(['The log file /dev/full cannot be written: the disk is full. Lines are lost.'])
  await log.close()
})

test('waiting lines are written when the process ends without closing', async () => {
  const log = await openLogFile({ path, onError })
  log.write('the last words')
  log.flushNow()
  expect(readFileSync(path, 'utf8')).toBe('the last words\n')
  await log.close()
  expect(readFileSync(path, 'utf8')).toBe('the last words\n')
})

const isRoot = process.geteuid?.() === 0
const NOBODY = 65534

test.skipIf(!isRoot)(
  'a file of another user is refused, at the start and at a reload, and stays as it is',
  async () => {
    const log = await openLogFile({ path, onError })
    rmSync(path)
    writeFileSync(path, 'of another\n')
    chownSync(path, NOBODY, NOBODY)
    await expect(log.reopen()).rejects.toThrow(
      /log file .* belongs to .*65534.*who put it there may read what is in it/,
    )
    await expect(openLogFile({ path, onError })).rejects.toThrow('belongs to')
    log.write('to the old file')
    await log.close()
    expect(readFileSync(path, 'utf8')).toBe('of another\n')
  },
)

test.skipIf(!isRoot)('a link of another user is refused, also one that leads nowhere', async () => {
  const target = join(folder, 'target')
  symlinkSync(target, path)
  lchownSync(path, NOBODY, NOBODY)
  await expect(openLogFile({ path, onError })).rejects.toThrow('belongs to')
  expect(existsSync(target)).toBe(false)
  writeFileSync(target, 'mine\n')
  await expect(openLogFile({ path, onError })).rejects.toThrow('belongs to')
  expect(readFileSync(target, 'utf8')).toBe('mine\n')
})

test('a link of our own is followed', async () => {
  const target = join(folder, 'target')
  symlinkSync(target, path)
  const log = await openLogFile({ path, onError })
  log.write('one')
  await log.close()
  expect(readFileSync(target, 'utf8')).toBe('one\n')
})
