// A move whose ends have several names for one place on the disk: nothing that either end still needs is removed.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import type { MovePlace } from '../../../src/app/moving/wish.ts'
import {
  FILES,
  filesIn,
  folder,
  holdsRows,
  type MoveRoom,
  newDatabase,
  openMoveRoom,
} from '../../support/move-room.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()
let room: MoveRoom
beforeEach(async () => {
  room = await openMoveRoom()
})
afterEach(() => room.remove())

const YES = { destroySource: true }

/** Each makes another name for a folder that is there. */
const ALIASES: [kind: string, make: (of: string, alias: string) => void][] = [
  ['a symbolic link', (of, alias) => symlinkSync(of, alias)],
  [
    'a link to a link',
    (of, alias) => {
      symlinkSync(of, `${alias}-between`)
      symlinkSync(`${alias}-between`, alias)
    },
  ],
  [
    'a folder whose files are a link',
    (of, alias) => {
      mkdirSync(alias, { mode: 0o700 })
      symlinkSync(`${of}/files`, `${alias}/files`)
    },
  ],
]

describe.skipIf(!postgres.isInstalled).each(ALIASES)('a data folder under the name of %s', (_, make) => {
  test('is no target for the files of its own source, which stays whole', async () => {
    make(room.at('from'), room.at('alias'))
    const wish = { to: await newDatabase(postgres), toDataDir: room.at('alias'), keyFile: room.at('key') }
    await expect(room.move(wish)).rejects.toThrow('name another data folder for the node with --data-dir')
    await expect(room.move({ ...wish, ...YES })).rejects.toThrow('name another data folder')
    expect(filesIn(room.at('from'))).toEqual(FILES)
    await room.serve('from')
  })

  test('keeps its files when the source in PostgreSQL that had them is destroyed', async () => {
    const { source, keyFile } = await moveToNode()
    make(room.at('node'), room.at('alias'))
    const other = await newDatabase(postgres)
    const wish = { from: source, fromDataDir: room.at('node'), to: other, toDataDir: room.at('alias') }
    await room.move({ ...wish, keyFile, ...YES })
    expect(filesIn(room.at('node'))).toEqual(FILES)
  })

  test('is not another place for the files alone', async () => {
    const { source, keyFile } = await moveToNode()
    make(room.at('node'), room.at('alias'))
    const wish = { from: source, to: source, fromDataDir: room.at('node'), toDataDir: room.at('alias') }
    await expect(room.move({ ...wish, keyFile, ...YES })).rejects.toThrow(/already/)
    expect(filesIn(room.at('node'))).toEqual(FILES)
  })

  test('keeps the files when it became another name of the source only after the move', async () => {
    const wish = { to: await newDatabase(postgres), toDataDir: room.at('node'), keyFile: room.at('key') }
    await room.move(wish)
    rmSync(room.at('node'), { recursive: true })
    make(room.at('from'), room.at('node'))
    await room.move({ ...wish, ...YES }).catch(() => undefined)
    expect(filesIn(room.at('from'))).toEqual(FILES)
  })
})

async function moveToNode(): Promise<{ source: MovePlace; keyFile: string }> {
  const [source, keyFile] = [await newDatabase(postgres), room.at('key')]
  await room.move({ to: source, toDataDir: room.at('node'), keyFile })
  return { source, keyFile }
}

describe('a folder whose target was made of hard links to its files', () => {
  test('is destroyed, and the target keeps them', async () => {
    await room.move({})
    for (const name of ['one-file', 'two-file']) {
      const path = `files/${name.slice(0, 2)}/${name}`
      rmSync(room.at(`to/${path}`))
      linkSync(room.at(`from/${path}`), room.at(`to/${path}`))
    }
    expect((await room.move(YES)).isDestroyed).toBe(true)
    expect(filesIn(room.at('to'))).toEqual(FILES)
    expect(existsSync(room.at('from/files'))).toBe(false)
    expect(holdsRows(room.at('to'))).toBe(true)
  })
})

/** `key` is the file of --key-file, made before the source is destroyed. `left`: whether the file in the source stays. */
type KeyRow = { kind: string; make: (inSource: string, key: string) => void; left: boolean }

const KEYS: KeyRow[] = [
  { kind: 'a symbolic link to it', make: (of, key) => symlinkSync(of, key), left: true },
  { kind: 'a relative link to it', make: (_, key) => symlinkSync('from/instance.key', key), left: true },
  {
    kind: 'a link through another name of its folder',
    make: (_, key) => {
      symlinkSync('from', `${key}-folder`)
      symlinkSync(`${key}-folder/instance.key`, key)
    },
    left: true,
  },
  { kind: 'a hard link to it', make: (of, key) => linkSync(of, key), left: false },
  { kind: 'a copy of it', make: (of, key) => copyFileSync(of, key), left: false },
  {
    kind: 'the real file behind it',
    make: (of, key) => {
      renameSync(of, key)
      symlinkSync(key, of)
    },
    left: false,
  },
]

describe('the key file of a target that is', () => {
  test.each(KEYS)('$kind still opens everything once the source is destroyed', async ({ make, left }) => {
    const text = readFileSync(room.at('from/instance.key'))
    make(room.at('from/instance.key'), room.at('key'))
    const wish = { keyFile: room.at('key') }
    await room.move(wish)
    expect((await room.move({ ...wish, ...YES })).isDestroyed).toBe(true)
    expect(readFileSync(room.at('key'))).toEqual(text)
    expect(isThere('from/instance.key')).toBe(left)
    expect(existsSync(room.at('from/oncebox.db'))).toBe(false)
  })

  test('in the source itself, which has another name on the command line, stays', async () => {
    symlinkSync(room.at('from'), room.at('alias'))
    const wish = { from: folder(room.at('alias')), keyFile: room.at('from/instance.key') }
    await room.move({ ...wish, ...YES })
    expect(existsSync(room.at('from/instance.key'))).toBe(true)
    expect(existsSync(room.at('from/oncebox.db'))).toBe(false)
  })

  test('gone, or does not hold all keys of the source, keeps the source from losing its own', async () => {
    await room.move({ keyFile: room.at('key') })
    renameSync(room.at('key'), room.at('aside'))
    await expect(room.move({ keyFile: room.at('key'), ...YES })).rejects.toThrow(
      /key file .*nothing was destroyed/,
    )
    expect(holdsRows(room.at('from'))).toBe(true)
    cpSync(room.at('aside'), room.at('key'))
    const two = `${readFileSync(room.at('aside'), 'utf8')}2 ${'ab'.repeat(32)}\n`
    await Bun.write(room.at('from/instance.key'), two)
    await room.move({ keyFile: room.at('key'), ...YES })
    expect(existsSync(room.at('from/instance.key'))).toBe(true)
    expect(room.said.join()).toMatch(/instance\.key stays, because .*key does not hold key 2/)
  })

  test('not named on the command line is asked for', async () => {
    if (!postgres.isInstalled) return
    const wish = { to: await newDatabase(postgres), toDataDir: room.at('node') }
    await room.move({ ...wish, keyFile: room.at('key') })
    await expect(room.move({ ...wish, ...YES })).rejects.toThrow('--key-file is missing')
    expect(holdsRows(room.at('from'))).toBe(true)
  })
})

test('what an operator put among the files of a source stays when the source is destroyed', async () => {
  await room.move({})
  mkdirSync(room.at('from/files/mine'))
  await Bun.write(room.at('from/files/mine/letter.txt'), 'x')
  await room.move(YES)
  expect(existsSync(room.at('from/files/mine/letter.txt'))).toBe(true)
  expect(filesIn(room.at('from'))).toEqual([])
})

test('the files of a source that lie on another disk are destroyed there', async () => {
  renameSync(room.at('from/files'), room.at('disk'))
  symlinkSync(room.at('disk'), room.at('from/files'))
  await room.move(YES)
  expect(filesIn(room.at('from'))).toEqual([])
  expect(filesIn(room.at('to'))).toEqual(FILES)
})

function isThere(name: string): boolean {
  try {
    readlinkSync(room.at(name))
    return true
  } catch {
    return existsSync(room.at(name))
  }
}
