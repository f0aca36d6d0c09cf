// How long grants work, by the clocks of several nodes.

import { expect, test } from 'bun:test'
import { sealGrant } from '../../src/crypto/download-grant.ts'
import { grantLifetime } from '../../src/domain/files.ts'
import { MINUTE, SECOND } from '../../src/domain/time.ts'
import { createDownloads } from '../../src/pushes/downloads.ts'
import { openTestStore } from '../support/store.ts'

test('a grant works on a node that read the clock a moment earlier than the one that made it', async () => {
  const { store, clock, close } = await openTestStore()
  const { keyring } = store
  const downloads = createDownloads({
    ...{ store, keyring, now: clock.now, elapsed: clock.now, lookEvery: 0 },
    relieve: async () => undefined,
  })
  const size = 1
  const open = (left: number) => {
    const file = { file: 'a', key: '', filename: 'a', size, contentType: 'text/plain' }
    return downloads.open(sealGrant({ ...file, push: '00'.repeat(16), until: clock.now() + left }, keyring))
  }
  // The grant is good; there is no such push.
  await expect(open(grantLifetime(size))).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + SECOND)).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + 2 * MINUTE)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(open(0)).rejects.toMatchObject({ code: 'forbidden' })
  await close()
})
