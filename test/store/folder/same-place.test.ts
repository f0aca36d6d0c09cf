import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isReadThrough, isSameFolder, isSamePlace } from '../../../src/store/folder/same-place.ts'

let room: string
const at = (name: string) => join(room, name)
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-place-'))
  for (const name of ['one', 'two', 'one/inner']) mkdirSync(at(name))
  symlinkSync('one', at('link'))
  symlinkSync(at('link'), at('chain'))
  symlinkSync('one/new', at('dangling'))
  symlinkSync('loop', at('loop'))
  symlinkSync('..', at('one/up'))
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const PLACES: [one: string, other: string, isSame: boolean][] = [
  ['one', 'one', true],
  ['one', 'two', false],
  ['one', 'one/inner', false],
  ['one', 'one/inner/..', true],
  ['one', 'link', true],
  ['one', 'chain', true],
  ['one/inner', 'chain/inner', true],
  ['one', 'link/up/two/../link', true],
  ['one/new', 'link/new', true],
  ['one/new', 'dangling', true],
  ['one/new/deep', 'dangling/deep', true],
  ['one/new', 'two/new', false],
  ['loop', 'loop', true],
  ['loop', 'one', false],
]

describe('the same place, by two names', () => {
  test.each(PLACES)('%s and %s: %p', (one, other, isSame) => {
    expect(isSamePlace(at(one), at(other))).toBe(isSame)
    expect(isSamePlace(at(other), at(one))).toBe(isSame)
    expect(isSameFolder(at(one), at(other))).toBe(isSame)
  })

  test('a look leaves nothing behind', () => {
    isSameFolder(at('one'), at('two'))
    expect([readdirSync(at('one')).toSorted(), readdirSync(at('two'))]).toEqual([['inner', 'up'], []])
  })
})

const KEYS: [name: string, make: (path: string) => void, isLost: boolean][] = [
  ['the file itself', () => undefined, true],
  ['a symbolic link to it', (path) => symlinkSync('../one/key', path), true],
  ['a link to a link to it', (path) => symlinkSync('../chain/key', path), true],
  ['a hard link to it', (path) => linkSync(at('one/key'), path), false],
  ['a copy of it', (path) => writeFileSync(path, 'k'), false],
]

describe('a file that is removed from its folder', () => {
  test.each(KEYS)('is lost, or not, for who reads %s', (name, make, isLost) => {
    writeFileSync(at('one/key'), 'k')
    const reader = name === 'the file itself' ? at('link/key') : at('two/key')
    make(reader)
    expect(isReadThrough(at('one/key'), reader)).toBe(isLost)
  })

  test('is not lost when it was only a link to the one that is read', () => {
    writeFileSync(at('two/key'), 'k')
    symlinkSync(at('two/key'), at('one/key'))
    expect(isReadThrough(at('one/key'), at('two/key'))).toBe(false)
    symlinkSync(at('one/key'), at('third'))
    expect(isReadThrough(at('one/key'), at('third'))).toBe(true)
  })
})
