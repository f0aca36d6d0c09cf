// Preparing pushes for an import, several at once.

import { expect, test } from 'bun:test'
import type { Argon2Cost } from '../../src/crypto/passphrase.ts'
import type { IncomingPush } from '../../src/importing/incoming.ts'
import { type PrepareOptions, preparePushes } from '../../src/importing/prepare.ts'

const PUSH: IncomingPush = {
  ...{ id: 0, urlToken: '', kind: 'text', ownerId: null, name: '', note: '', payload: 'text' },
  ...{ passphrase: 'secret', createdAt: 0, updatedAt: 0, expireAfterDays: 7, expireAfterViews: 5 },
  ...{ expired: false, expiredOn: null, deletableByViewer: null, retrievalStep: false },
  ...{ entries: [], files: [] },
}

function prepare(isKnown: PrepareOptions['isKnown'], readPushes = fivePushes) {
  const source = { version: '', pushes: 5, opens: true, warnings: [], hasDefaultKey: () => false }
  return preparePushes(
    { ...source, readPushes, readAccounts: async function* () {}, close: async () => undefined },
    {
      ...{ now: 1, lanes: 2, isKnown, onProgress: () => undefined, argon2Cost: {} as Argon2Cost },
      // The test ends before a file is uploaded or a passphrase derived.
      uploads: {} as PrepareOptions['uploads'],
    },
  )
}

async function* fivePushes() {
  for (const id of [1, 2, 3, 4, 5]) yield { ...PUSH, id, urlToken: `abcdefghijk${id}` }
}

test('prepares as many pushes at once as there are lanes, and each once', async () => {
  const begun: string[] = []
  let [running, most] = [0, 0]
  await prepare(async (urlToken) => {
    begun.push(urlToken.slice(-1))
    running += 1
    most = Math.max(most, running)
    await Bun.sleep(1)
    running -= 1
    return true
  })
  expect(most).toBe(2)
  expect(begun.sort()).toEqual(['1', '2', '3', '4', '5'])
})

test('begins no other push after a failure, and throws once none is being prepared', async () => {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const begun: string[] = []
  let isOver = false
  const all = prepare(async (urlToken) => {
    begun.push(urlToken.slice(-1))
    if (begun.length === 1) throw new Error('the first')
    await late
    return true
  }).finally(() => {
    isOver = true
  })
  await Bun.sleep(5)
  expect(isOver).toBe(false)
  resolve()
  await expect(all).rejects.toThrow('the first')
  expect(begun).toEqual(['1', '2'])
})

test('passes on an error from reading the pushes', async () => {
  async function* readPushes() {
    yield* fivePushes()
    throw new Error('no more')
  }
  await expect(prepare(async () => true, readPushes)).rejects.toThrow('no more')
})
