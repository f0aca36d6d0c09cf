// The data folder of a node, which a move gives files to or takes them from: it is refused when it is somebody else's.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { MovePlace } from '../../../src/app/moving/wish.ts'
import { dataFolder } from '../../../src/store/folder/data-folder.ts'
import { lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { FILES, filesIn, type MoveRoom, newDatabase, openMoveRoom } from '../../support/move-room.ts'
import { usePostgres } from '../../support/use-postgres.ts'

const postgres = usePostgres()
let room: MoveRoom
let target: MovePlace
beforeEach(async () => {
  room = await openMoveRoom()
  if (postgres.isInstalled) target = await newDatabase(postgres)
})
afterEach(() => room.remove())

const YES = { destroySource: true }
const intoNode = (to = target) => ({ to, toDataDir: room.at('node'), keyFile: room.at('key') })

const WITNESS = {
  ...{ tag: '7c0d6d4e-0000-4000-8000-000000000000', beats: 0, restoredAt: 0, place: null, operations: [] },
  ...{ savedAt: 0, node: null, isFinal: true },
}

/** Each makes the folder `node` somebody else's. */
const FOREIGN: [whose: string, make: () => void | Promise<void>, refusal: string][] = [
  [
    'that holds another Oncebox',
    async () => {
      mkdirSync(room.at('node'), { mode: 0o700 })
      await room.serve('node')
    },
    'holds a database of its own',
  ],
  [
    'of a node of another database',
    () => {
      mkdirSync(room.at('node'))
      writeFileSync(room.at('node/serve.witness'), JSON.stringify(WITNESS))
    },
    'belongs to a node of another database',
  ],
  [
    'to which a move brought files for another database',
    async () => void (await room.move(intoNode(await newDatabase(postgres)), { confirm: async () => false })),
    'belongs to a node of another database',
  ],
  [
    'with sealed files that nobody knows',
    () => cpSync(room.at('from/files'), room.at('node/files'), { recursive: true }),
    'other files (such as "files")',
  ],
  [
    'with other files',
    () => {
      mkdirSync(room.at('node'))
      writeFileSync(room.at('node/letter.txt'), 'x')
    },
    'other files (such as "letter.txt")',
  ],
  ['that is a file', () => writeFileSync(room.at('node'), 'x'), 'that is a file'],
]

postgres.describe('a data folder', () => {
  test.each(FOREIGN)('%s takes no files, in whatever mode', async (_, make, refusal) => {
    await make()
    const before = listed('node')
    for (const mode of ['dry-run', 'move'] as const)
      await expect(room.move({ ...intoNode(), mode })).rejects.toThrow(refusal)
    expect(listed('node')).toEqual(before)
    await room.serve('from')
  })

  test('that is served takes no files', async () => {
    mkdirSync(room.at('node'), { mode: 0o700 })
    const lock = await lockFolder(dataFolder(room.at('node')), { onWait: () => undefined })
    await expect(room.move(intoNode())).rejects.toThrow('is being served')
    lock.release()
    expect((await room.move(intoNode())).state).toBe('moved')
  })

  test('that waits for the end of a move goes on with it, and is empty for no other one', async () => {
    await room.move(intoNode(), { confirm: async () => false })
    expect((await room.move({ ...intoNode(), mode: 'confirm' })).state).toBe('moved')
    expect(filesIn(room.at('node'))).toEqual(FILES)
    expect((await room.move({ ...intoNode(), ...YES })).isDestroyed).toBe(true)
    expect(filesIn(room.at('node'))).toEqual(FILES)
  })

  test('with the key file of the target in it takes its files', async () => {
    mkdirSync(room.at('node'))
    expect((await room.move({ ...intoNode(), keyFile: room.at('node/instance.key') })).state).toBe('moved')
  })

  test('that is not of the source loses no files when the source is destroyed', async () => {
    await room.move(intoNode())
    mkdirSync(room.at('other'), { mode: 0o700 })
    await room.serve('other')
    cpSync(room.at('node/files'), room.at('other/files'), { recursive: true })
    rmSync(room.at('other/files/.database'))
    const onward = { ...intoNode(await newDatabase(postgres)), from: target, toDataDir: room.at('next') }
    await room.move({ ...onward, fromDataDir: room.at('other'), ...YES })
    expect(filesIn(room.at('other'))).toEqual(FILES)
    expect(room.said.join()).toContain('they may be those of another Oncebox')
    expect(filesIn(room.at('next'))).toEqual(FILES)
  })

  test('of the source is emptied when the source is destroyed', async () => {
    await room.move(intoNode())
    const onward = { ...intoNode(await newDatabase(postgres)), from: target, toDataDir: room.at('next') }
    await room.move({ ...onward, fromDataDir: room.at('node'), ...YES })
    expect(existsSync(room.at('node/files'))).toBe(false)
    expect(filesIn(room.at('next'))).toEqual(FILES)
  })

  test('in which a try was killed while it wrote a file takes it from the next one, also after the source was used', async () => {
    const stopped = room.move(intoNode(), {
      onStep: (step) => {
        if (step === 'after a file') throw new Error('stopped')
      },
    })
    await expect(stopped).rejects.toThrow('stopped')
    for (const id of FILES) {
      mkdirSync(room.at(`node/files/${id.slice(0, 2)}`), { recursive: true })
      rmSync(room.at(`node/files/${id.slice(0, 2)}/${id}`), { force: true })
      writeFileSync(room.at(`node/files/${id.slice(0, 2)}/${id}.part`), 'half')
    }
    await room.serve('from')
    expect((await room.move(intoNode())).state).toBe('moved')
    expect(filesIn(room.at('node'))).toEqual(FILES)
    expect(listed('node').filter((name) => name.endsWith('.part'))).toEqual([])
  })
})

test('a folder in which a try was killed while it wrote a file takes it from the next one', async () => {
  await room.move({}, { confirm: async () => false })
  for (const id of FILES) {
    rmSync(room.at(`to/files/${id.slice(0, 2)}/${id}`))
    writeFileSync(room.at(`to/files/${id.slice(0, 2)}/${id}.part`), 'half')
  }
  await room.serve('from')
  expect((await room.move({})).state).toBe('moved')
  expect(filesIn(room.at('to'))).toEqual(FILES)
})

function listed(name: string): string[] {
  try {
    return readdirSync(room.at(name), { recursive: true })
      .map(String)
      .filter((path) => !/^(serve|open)\./.test(path))
      .toSorted()
  } catch {
    return []
  }
}
