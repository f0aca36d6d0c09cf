// Guarantees of every store of sealed files, and of every engine for the files of pushes.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { grantLifetime } from '../../../src/domain/files.ts'
import { DAY } from '../../../src/domain/time.ts'
import type { SealedFiles } from '../../../src/store/files-contract.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

export type OpenFiles = () => { files: SealedFiles; close(): void }

const SIZE = 5
const SEALED = Buffer.alloc(sealedSize(SIZE), 3)

async function* arriving(...chunks: (Uint8Array | Error)[]) {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk
    yield chunk
  }
}

export function describeSealedFiles(open: OpenFiles): void {
  let files: SealedFiles
  let close: () => void
  beforeEach(() => {
    const opened = open()
    files = opened.files
    close = opened.close
  })
  afterEach(() => close())

  test('a file is read back unchanged, from any position', async () => {
    await files.put('aa1', arriving(SEALED.subarray(0, 4), SEALED.subarray(4)))
    const file = await files.open('aa1')
    expect(file?.size).toBe(SEALED.length)
    expect(await file?.read({ start: 2, length: 4 })).toEqual(SEALED.subarray(2, 6))
    expect(await file?.read({ start: SEALED.length - 1, length: 9 })).toHaveLength(1)
    await file?.close()
  })

  test('an interrupted file leaves nothing behind', async () => {
    await expect(files.put('aa1', arriving(SEALED, new Error('cut off')))).rejects.toThrow('cut off')
    expect(await files.open('aa1')).toBeNull()
    expect(await files.has({ id: 'aa1', size: SIZE })).toBe(false)
    await files.put('aa1', arriving(SEALED))
    expect(await files.has({ id: 'aa1', size: SIZE })).toBe(true)
  })

  test('a file of another length counts as missing', async () => {
    await files.put('aa1', arriving(SEALED.subarray(1)))
    expect(await files.has({ id: 'aa1', size: SIZE })).toBe(false)
  })

  test('a removed file is gone, and removing it again is harmless', async () => {
    await files.put('aa1', arriving(SEALED))
    const open = await files.open('aa1')
    await files.remove('aa1')
    await files.remove('aa1')
    expect(await files.open('aa1')).toBeNull()
    expect(await open?.read({ start: 0, length: 4 })).toEqual(SEALED.subarray(0, 4))
    await open?.close()
  })
}

export function describeFilesOfPushes(open: OpenEngine): void {
  let opened: OpenedEngine
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  const name = Buffer.from('name')
  const has = (id: string) => opened.store.files.has({ id, size: SIZE })

  async function pushFile(id: string, changes: Parameters<typeof storePush>[1] = {}) {
    await opened.store.files.keepFile(id, arriving(SEALED))
    const files = [{ fileId: id, size: SIZE, filename: name, contentType: name }]
    return storePush(opened, changes, { files })
  }

  test('the file of a live push is never due, also after a restart', async () => {
    await pushFile('aa1')
    await opened.reopen()
    await opened.store.files.removeDue()
    expect(await has('aa1')).toBe(true)
    expect(await opened.store.files.findNextDue()).toBeNull()
  })

  test('an upload that no push takes is removed when it is given up, or at the next start', async () => {
    await opened.store.files.keepFile('aa1', arriving(SEALED))
    await opened.store.files.keepFile('aa2', arriving(SEALED))
    await opened.store.files.giveUpFile('aa1')
    await opened.store.files.removeDue()
    expect([await has('aa1'), await has('aa2')]).toEqual([false, true])
    await opened.reopen()
    await opened.store.files.removeDue()
    expect(await has('aa2')).toBe(false)
  })

  test('the files of a push that is expired on request are removed at once', async () => {
    const { id } = await pushFile('aa1')
    await opened.store.pushes.expirePush({ id, visit: VISIT })
    await opened.store.files.removeDue()
    expect(await has('aa1')).toBe(false)
  })

  test('the files of a last view stay until its grants end or the push is deleted', async () => {
    const [first, second] = [
      await pushFile('aa1', { expireAfterViews: 1 }),
      await pushFile('aa2', { expireAfterViews: 1 }),
    ]
    await view(opened, first)
    const { push } = (await view(opened, second)) ?? { push: second }
    const until = opened.clock.now() + grantLifetime(SIZE)
    await opened.store.files.removeDue()
    expect([await has('aa1'), await has('aa2')]).toEqual([true, true])
    expect(await opened.store.pushes.hasGrants(push)).toBe(true)
    expect(await opened.store.files.findNextDue()).toBe(until)
    expect(await opened.store.pushes.expirePush({ id: push.id, visit: VISIT })).toMatchObject({
      deleted: true,
    })
    await opened.store.files.removeDue()
    expect([await has('aa1'), await has('aa2')]).toEqual([true, false])
    opened.clock.set(until)
    await opened.store.files.removeDue()
    expect(await has('aa1')).toBe(false)
  })

  test('the files of a push that expired by time are removed when its expiry is recorded', async () => {
    await pushFile('aa1')
    opened.clock.advance(2 * DAY)
    await opened.store.expiry.expireLapsed()
    await opened.store.files.removeDue()
    expect(await has('aa1')).toBe(false)
  })
}
