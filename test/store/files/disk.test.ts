// Sealed files in a folder: what a failing write removes, and what it must not touch.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenAtSteps } from '../../../src/store/durable-steps.ts'
import { createDiskFiles } from '../../../src/store/files/disk.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-files-'))
  mkdirSync(join(folder, 'ab'))
})
afterEach(() => listenAtSteps(null))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string) => writeFileSync(join(folder, 'ab', name), 'of another write')
const read = (name: string) => readFileSync(join(folder, 'ab', name), 'utf8')
const names = () => readdirSync(join(folder, 'ab')).toSorted()

async function* failing() {
  yield Buffer.from('some')
  throw new Error('the source failed')
}

async function* whole() {
  yield Buffer.from('new')
}

test('a failed write removes its own bytes, not an existing file', async () => {
  write('abc')
  await expect(createDiskFiles(folder).put('abc', failing())).rejects.toThrow('the source failed')
  expect(names()).toEqual(['abc'])
  expect(read('abc')).toBe('of another write')
})

test('a write that cannot begin removes nothing, not even another unfinished write', async () => {
  write('abc')
  write('abc.part')
  await expect(createDiskFiles(folder).put('abc', whole())).rejects.toThrow('EEXIST')
  expect(names()).toEqual(['abc', 'abc.part'])
  expect(read('abc.part')).toBe('of another write')
})

test('a write that fails after its rename leaves nothing', async () => {
  listenAtSteps((step) => {
    if (step === 'after a file was renamed') throw new Error('the disk failed')
  })
  await expect(createDiskFiles(folder).put('abc', whole())).rejects.toThrow('the disk failed')
  expect(names()).toEqual([])
})
