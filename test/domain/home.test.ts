// Where a data folder is at home: what tells a copy from its original, and what must never be taken for a copy.

import { expect, test } from 'bun:test'
import { type FileFacts, findMoves, type Home, type Place, presentMoves } from '../../src/domain/home.ts'

const MADE: FileFacts = { inode: '17', birth: 1_000 }
const DATABASE: FileFacts = { inode: '16', birth: 900 }
const HOME: Home = {
  machine: 'aaaaaaaaaaaa',
  path: '/srv/data',
  mark: { incarnation: 'one', facts: MADE },
  database: DATABASE,
  servedAt: Date.parse('2026-11-20T12:00:00.000Z'),
}
const AT_HOME: Place = {
  machine: 'aaaaaaaaaaaa',
  path: '/srv/data',
  marks: [HOME.mark],
  database: DATABASE,
  isReachedFromHome: true,
  isHomeEmpty: false,
}

const movesTo = (changes: Partial<Place>, home: Partial<Home> = {}) =>
  findMoves({ ...HOME, ...home }, { ...AT_HOME, ...changes })
const marked = (facts: FileFacts, incarnation = 'one') => ({ marks: [{ incarnation, facts }] })

test('a folder where it was is at home', () => {
  expect(movesTo({})).toEqual([])
})

test.each<[string, Partial<Place>, Partial<Home>]>([
  ['a container that has no machine id', { machine: null }, {}],
  ['a machine that has one, after a container', {}, { machine: null }],
  ['another mount of the same folder', { path: '/mnt/data', isReachedFromHome: true }, {}],
  ['inodes that were numbered anew, while the birth is known', marked({ inode: '99', birth: 1_000 }), {}],
  ['a file system without births', marked({ inode: '17', birth: null }), {}],
  ['a file system without lasting inodes', marked({ inode: null, birth: 1_000 }), {}],
  ['a file system with neither', marked({ inode: null, birth: null }), {}],
  [
    'a system that learned to tell births',
    {},
    { mark: { incarnation: 'one', facts: { inode: '17', birth: null } } },
  ],
  ['a mark that was tidied away', { marks: [] }, {}],
  [
    'a start that was killed before the new mark counted',
    { marks: [HOME.mark, { incarnation: 'two', facts: { inode: '18', birth: 2_000 } }] },
    {},
  ],
  ['a database that was rebuilt in place', { database: { inode: '30', birth: 3_000 } }, {}],
])('%s raises no alarm', (_, place, home) => {
  expect(movesTo(place, home)).toEqual([])
})

test.each<[string, Partial<Place>, string]>([
  ['a copy on another machine', { machine: 'bbbbbbbbbbbb' }, 'machine'],
  ['a copy at another path', { path: '/srv/copy', isReachedFromHome: false }, 'path'],
  ['a copy in the place of its original', marked({ inode: '44', birth: 4_000 }), 'files'],
  ['a copy whose file was given the inode of the original', marked({ inode: '17', birth: 4_000 }), 'files'],
  ['a copy without births', marked({ inode: '44', birth: null }), 'files'],
  ['a copy of database and key alone', { marks: [], database: { inode: '44', birth: 4_000 } }, 'files'],
  ['an older database in its old place', marked(MADE, 'two'), 'database'],
])('%s is noticed', (_, place, move) => {
  expect(movesTo(place).join()).toBe(move)
})

test('what was remembered and what is now are told', () => {
  const place = { ...AT_HOME, path: '/srv/copy', machine: 'bbbbbbbbbbbb', isReachedFromHome: false }
  const said = presentMoves(findMoves(HOME, place), HOME, place)
  expect(said).toBe(
    'It was last served at 2026-11-20T12:00:00.000Z as /srv/data; that was another machine (aaaaaaaa, this one is bbbbbbbb), ' +
      'and now it is /srv/copy.',
  )
})

test('a folder that was renamed is told from a copy', () => {
  const place = { ...AT_HOME, path: '/srv/new', isReachedFromHome: false, isHomeEmpty: true }
  expect(presentMoves(findMoves(HOME, place), HOME, place)).toContain('it was renamed')
  // A snapshot of the disk, mounted beside it, has the same files.
  const beside = { ...place, isHomeEmpty: false }
  expect(presentMoves(findMoves(HOME, beside), HOME, beside)).not.toContain('renamed')
  const unknown = { ...HOME, mark: { incarnation: 'one', facts: { inode: null, birth: null } } }
  expect(presentMoves(findMoves(unknown, place), unknown, place)).not.toContain('renamed')
})
