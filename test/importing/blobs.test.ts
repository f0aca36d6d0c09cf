// The files of another server: only those in its storage folder are imported, and only unaltered.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { IncomingProblem } from '../../src/importing/incoming.ts'
import { type Blob, incomingFile } from '../../src/importing/source/blobs.ts'
import { newFolder } from '../support/import.ts'
import { needs } from '../support/needs.ts'

const CONTENT = Buffer.from('content of a file')
const KEY = 'abcdefgh'

let folder: string
let storage: string
/** The path of KEY's file. */
let path: string

beforeEach(() => {
  folder = newFolder()
  storage = join(folder, 'storage')
  path = join(storage, 'ab/cd', KEY)
  for (const place of [join(storage, 'ab/cd'), join(folder, 'outside/cd')])
    mkdirSync(place, { recursive: true })
  writeFileSync(path, CONTENT)
  writeFileSync(join(folder, 'outside/cd', KEY), CONTENT)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function stored(parts: Partial<Blob> = {}) {
  const checksum = createHash('md5').update(CONTENT).digest('base64')
  const blob = { key: KEY, filename: 'a.txt', contentType: '', size: CONTENT.length, checksum }
  return incomingFile({ ...blob, service: 'local', ...parts }, storage)
}

async function read(file: ReturnType<typeof stored>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of file.open()) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('a file is imported unchanged, and the storage folder itself may be a symlink', async () => {
  expect(await read(stored())).toBe(CONTENT.toString())
  renameSync(storage, join(folder, 'elsewhere'))
  symlinkSync('elsewhere', storage)
  expect(await read(stored())).toBe(CONTENT.toString())
})

describe('is not imported, and never opened:', () => {
  const inPlace: Record<string, () => void> = {
    'a file that is a link out of the folder': () => symlinkSync(join(folder, 'outside/cd', KEY), path),
    'a file that is a link within the folder': () => {
      writeFileSync(join(storage, 'other'), CONTENT)
      symlinkSync('../../other', path)
    },
    'a link to nothing': () => symlinkSync('nothing', path),
    'a link to itself': () => symlinkSync(KEY, path),
    'a device': () => symlinkSync('/dev/zero', path),
    'a folder': () => mkdirSync(path),
    nothing: () => undefined,
  }
  async function expectRefused(put: () => unknown): Promise<void> {
    rmSync(path)
    put()
    await expect(read(stored())).rejects.toThrow(IncomingProblem)
  }
  for (const [name, put] of Object.entries(inPlace)) test(name, () => expectRefused(put))
  needs('mkfifo').test('a pipe', () => expectRefused(() => Bun.spawnSync(['mkfifo', path])))

  for (const [name, level] of [
    ['a file behind a folder that is a link', 'ab'],
    ['a file behind a folder in it that is a link', 'ab/cd'],
  ] as const)
    test(name, async () => {
      rmSync(join(storage, level), { recursive: true })
      symlinkSync(join(folder, level.replace('ab', 'outside')), join(storage, level))
      await expect(read(stored())).rejects.toThrow('link')
    })

  const rows: [string, Partial<Blob>][] = [
    ['a smaller size in its row', { size: CONTENT.length - 1 }],
    ['a larger size in its row', { size: CONTENT.length + 1 }],
    ['a size that is no size in its row', { size: -1 }],
    ['no size in its row', { size: null }],
    ['no checksum in its row', { checksum: '' }],
    ['a key that leads upwards', { key: '../../outside/cd/abcdefgh' }],
    ['a key that is a path', { key: '/etc/passwd' }],
    ['a key that ends within', { key: `${KEY}\u0000.txt` }],
    ['a key with a line behind it', { key: `${KEY}\n` }],
    ['a key that is too long', { key: 'a'.repeat(256) }],
  ]
  for (const [name, parts] of rows)
    test(name, async () => {
      await expect(read(stored(parts))).rejects.toThrow(IncomingProblem)
    })
})

describe('a file that changes while it is read', () => {
  const SIZE = 1_000_000
  const big = Buffer.alloc(SIZE, 7)
  const checksum = createHash('md5').update(big).digest('base64')

  async function readWhile(happen: () => void): Promise<number> {
    writeFileSync(path, big)
    let bytes = 0
    for await (const piece of stored({ size: SIZE, checksum }).open()) {
      if (bytes === 0) happen()
      bytes += piece.length
    }
    return bytes
  }

  test('is read to its recorded size if it grows', async () => {
    expect(await readWhile(() => appendFileSync(path, 'more'))).toBe(SIZE)
  })

  test('is not imported if it shrinks', async () => {
    await expect(readWhile(() => truncateSync(path, SIZE / 2))).rejects.toThrow(IncomingProblem)
  })
})
