// How long grants work, by the clocks of several nodes.

import { expect, test } from 'bun:test'
import { EMPTY_COUNTS } from '../../src/domain/audit.ts'
import { grantLifetime } from '../../src/domain/files.ts'
import { MINUTE, SECOND } from '../../src/domain/time.ts'
import { createDownloads } from '../../src/pushes/downloads.ts'
import { examplePush, openTestStore } from '../support/store.ts'

test('a grant works on a node that read the clock a moment earlier than the one that made it', async () => {
  const { store, clock, close } = await openTestStore()
  const { keyring } = store
  const downloads = createDownloads({
    ...{ store, keyring, now: clock.now, elapsed: clock.now, lookEvery: 0 },
    relieve: async () => undefined,
  })
  const size = 1
  const open = (left: number) => {
    const push = {
      ...examplePush(clock.now()),
      ...EMPTY_COUNTS,
      id: 1,
      lookup: Buffer.alloc(16),
      keyNumber: 1,
      files: 1,
    }
    const files = [{ id: 'a', filename: 'a', size, contentType: 'text/plain' }]
    const viewedAt = clock.now() + left - grantLifetime(size)
    const { files: granted } = downloads.grantAll({ push, dataKey: Buffer.alloc(32), files, viewedAt })
    return downloads.open(granted[0]!.grant)
  }
  // The grant is good; there is no such push.
  await expect(open(grantLifetime(size))).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + SECOND)).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + 2 * MINUTE)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(open(0)).rejects.toMatchObject({ code: 'forbidden' })
  await close()
})
