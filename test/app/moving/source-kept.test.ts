// The source of a move is destroyed only while the target holds every row and every file of it: whatever was done when a try was
// broken off, and to whatever earlier state the target was set back since.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Compared } from '../../../src/app/moving/compare.ts'
import { placeOf } from '../../../src/app/moving/ends.ts'
import {
  digestOf,
  type EndKind,
  filesOf,
  folderEnd,
  makeSmallFolder,
  moveBetween,
  postgresEnd,
  type TestEnd,
} from '../../support/move-ends.ts'
import { openTestStore } from '../../support/store.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const NOTHING_EARLIER = 'nothing earlier'
const START = 'before everything'
const ROWS_BEGUN = 'after the table accounts'
const ROWS = 'after all rows'
const COPIED = 'after everything was copied'
const LEFT = 'after the source was left'
const CONFIRMED = 'after the move was confirmed'
const SETTLED = 'after the source was settled'

const REFUSED = 'does not hold what was moved there'
const OTHER_NODE = 'belongs to a node of another database'
const OCCUPIED = /Cannot move into/

/**
 * `stop`: the step after which the move was broken off. `target`: the step of an earlier try to which its rows and marks were set
 * back then. `expected`: whether the next run with --destroy-source brings everything and destroys the
 * source, or how it refuses.
 */
type Row = { stop: string; target: string; expected: string }

const whileUnsettled = (stop: string): Row[] =>
  [NOTHING_EARLIER, START, ROWS_BEGUN, ROWS, COPIED].map((target) => ({
    ...{ stop, target, expected: 'destroyed' },
  }))

const ROWS_OF_TABLE: Row[] = [
  ...whileUnsettled(COPIED),
  ...whileUnsettled(LEFT),
  ...whileUnsettled(CONFIRMED),
  { stop: SETTLED, target: NOTHING_EARLIER, expected: 'destroyed' },
  { stop: SETTLED, target: CONFIRMED, expected: 'destroyed' },
  ...[START, ROWS_BEGUN, ROWS, COPIED].map((target) => ({ stop: SETTLED, target, expected: REFUSED })),
]

const postgres = usePostgres()
let small: Awaited<ReturnType<typeof makeSmallFolder>>
let whole: Compared
beforeAll(async () => {
  small = await makeSmallFolder()
})
afterAll(() => small.close())

let room: string
let ends: TestEnd[]
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-kept-'))
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end.remove()
  rmSync(room, { recursive: true, force: true })
})

async function makeEnd(kind: EndKind, name: string): Promise<TestEnd> {
  const end = kind === 'folder' ? folderEnd(room, name) : await postgresEnd(postgres, room, name)
  ends.push(end)
  return end
}

const keyFile = () => join(room, 'key')

/** With everything in it, and never served. */
async function makeSource(kind: EndKind): Promise<TestEnd> {
  const folder = await makeEnd('folder', kind === 'folder' ? 'from' : 'origin')
  cpSync(small.dataDir, folder.dataDir, { recursive: true, preserveTimestamps: true })
  // The copy is at home from now on.
  await (await openTestStore({ dataDir: folder.dataDir, acceptMove: true })).store.close()
  cpSync(join(folder.dataDir, 'instance.key'), keyFile())
  whole = await digestOf(folder)
  if (kind === 'folder') return folder
  const from = await makeEnd('postgres', 'from')
  await moveBetween({ from: folder, to: from, keyFile: keyFile() })
  return from
}

async function expectWhole(end: TestEnd): Promise<void> {
  expect(await digestOf(end)).toEqual(whole)
  const names = readdirSync(filesOf(end), { recursive: true }).map(String)
  expect(names.filter((name) => /file\d$/.test(name))).toHaveLength(3)
}

const PAIRS: [EndKind, EndKind][] = [
  ['folder', 'folder'],
  ['folder', 'postgres'],
  ['postgres', 'folder'],
]

describe.each(PAIRS)('from a %s to a %s', (source, target) => {
  const isRunnable = postgres.isInstalled || (source === 'folder' && target === 'folder')

  async function makeEnds() {
    const [from, to] = [await makeSource(source), await makeEnd(target, 'to')]
    return { from, to, keyFile: keyFile() }
  }

  /** Breaks a move off at one step, remembers the target, and lets it go on to another step. */
  async function breakOff({ stop, target }: Pick<Row, 'stop' | 'target'>) {
    const move = await makeEnds()
    const isSetBack = target !== NOTHING_EARLIER
    if (isSetBack && target !== START) expect(await moveBetween({ ...move, stopAfter: target })).toBeNull()
    if (isSetBack) await move.to.save('earlier')
    expect(await moveBetween({ ...move, stopAfter: stop })).toBeNull()
    if (isSetBack) await move.to.setBack('earlier')
    return move
  }

  // What a folder holds as a target does not depend on its source, and before the source is left the first pair tells enough.
  const isFirst = source === 'folder' && target === 'folder'
  const rows = ROWS_OF_TABLE.filter(
    (row) => isFirst || row.target === ROWS || (source === 'folder' && row.stop !== COPIED),
  )

  test.skipIf(!isRunnable).each(rows)(
    'broken off $stop, and set back to $target',
    async ({ stop, target: earlier, expected: told }) => {
      // A new database has another tag than the data folder of its node has noted.
      const expected = earlier === START && target === 'postgres' ? OTHER_NODE : told
      const move = await breakOff({ stop, target: earlier })
      const again = moveBetween({ ...move, wish: { destroySource: true } })
      if (expected === 'destroyed') {
        expect(await again).toMatchObject({ state: 'moved', isDestroyed: true })
        await expectWhole(move.to)
        expect(existsSync(filesOf(move.from))).toBe(false)
      } else {
        await expect(again).rejects.toThrow(expected)
        await expectWhole(move.from)
      }
    },
    120_000,
  )

  test.skipIf(!isRunnable).each([
    { stop: COPIED, expected: 'destroyed' },
    { stop: LEFT, expected: 'destroyed' },
    { stop: CONFIRMED, expected: /lacks files that were moved there \(a file of push \d+\)/ },
    { stop: SETTLED, expected: /lacks files that were moved there \(a file of push \d+\)/ },
  ])('broken off $stop, and a file of the target was lost', async ({ stop, expected }) => {
    const move = await breakOff({ stop, target: NOTHING_EARLIER })
    rmSync(join(filesOf(move.to), 'fi', 'file1'))
    const again = moveBetween({ ...move, wish: { destroySource: true } })
    if (expected === 'destroyed') {
      expect(await again).toMatchObject({ isDestroyed: true })
      await expectWhole(move.to)
    } else {
      await expect(again).rejects.toThrow(expected)
      await expectWhole(move.from)
    }
  })

  test.skipIf(!isRunnable)('a target that is set back while it is asked whether to destroy', async () => {
    const move = await makeEnds()
    await moveBetween({ ...move, stopAfter: ROWS })
    await move.to.save('earlier')
    await moveBetween(move)
    const asked = async () => {
      await move.to.setBack('earlier')
      return true
    }
    const again = moveBetween({
      ...move,
      wish: { destroySource: true },
      ports: { confirmDestruction: asked },
    })
    await expect(again).rejects.toThrow(REFUSED)
    await expectWhole(move.from)
  })

  test.skipIf(!isRunnable)('a source that was set back to before it was left', async () => {
    const move = await makeEnds()
    await moveBetween({ ...move, stopAfter: COPIED })
    if (source === 'postgres') await move.from.save('earlier')
    await moveBetween(move)
    if (source === 'postgres') await move.from.setBack('earlier')
    else rmSync(join(move.from.dataDir, 'moved.json'))
    await expect(moveBetween({ ...move, wish: { destroySource: true } })).rejects.toThrow(OCCUPIED)
    await expectWhole(move.from)
    await expectWhole(move.to)
  })

  test.skipIf(!isRunnable)('a target that was confirmed since it was looked at is not emptied', async () => {
    const move = await makeEnds()
    const { openTarget } = placeOf(move.to.place, {
      remembering: { dataDir: null, bucket: null, keyFile: null },
      onWarning: () => undefined,
    })
    await moveBetween(move)
    const state = { id: 'other', state: 'copying', source: 'elsewhere', sourceMark: '' } as const
    await expect(openTarget({ found: null, state, anew: true })).rejects.toThrow(OCCUPIED)
    await expectWhole(move.to)
  })

  test.skipIf(!isRunnable)('of two moves from one source only one leaves it', async () => {
    const move = await makeEnds()
    const third = await makeEnd(target, 'third')
    // A folder has a lock, and refuses the second one; of a database, the second one is done before the first asks.
    const refusal = source === 'folder' ? 'is at an end of a move' : 'was moved to'
    const confirm = async () => (await moveBetween({ ...move, to: third })) !== null
    await expect(moveBetween({ ...move, ports: { confirm } })).rejects.toThrow(refusal)
    if (source === 'folder') return
    await expectWhole(third)
    await expect(moveBetween(move)).rejects.toThrow('already')
  })

  test.skipIf(!isRunnable)('a run without --destroy-source ends the move and destroys nothing', async () => {
    for (const target of [ROWS, NOTHING_EARLIER]) {
      const move = await breakOff({ stop: LEFT, target })
      expect(await moveBetween(move)).toMatchObject({ state: 'moved', isDestroyed: false })
      await expectWhole(move.from)
      await expectWhole(move.to)
      await expect(moveBetween(move)).rejects.toThrow('was moved to')
      for (const end of ends.splice(0)) await end.remove()
      rmSync(room, { recursive: true })
      room = mkdtempSync(join(tmpdir(), 'oncebox-kept-'))
    }
  })
})
