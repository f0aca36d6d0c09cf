// Removal of stored files when their push is refused.

import { expect, test } from 'bun:test'
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { PushLimits } from '../../../src/domain/new-push.ts'
import { createReceivePush } from '../../../src/http/intake/receiving.ts'
import type { Uploads } from '../../../src/pushes/uploads.ts'

const BODY = {
  maxBytes: 1000,
  limit: null,
  maxStreamBytes: 1000,
  timeoutMs: 30_000,
  take: () => undefined,
  turn: async () => undefined,
}
const LIMITS: PushLimits = {
  ...{ payloadBytes: 1000, fileBytes: 1000, files: 1, retrievalStep: false, deletableByViewer: true },
  showSender: false,
  endToEnd: 'offered',
  mail: false,
  ...{
    days: { min: 1, max: 9, default: 7 },
    views: { min: 1, max: 9, default: 5 },
    requirePassphrase: false,
    viewsAnonymous: null,
    kinds: new Set(['text']),
  },
}

/** Resolves to the code of the refusal, and whether it waited for the removal of the files. */
async function refuse(code: ErrorCode): Promise<{ code: string; isWaited: boolean }> {
  let isWaited = false
  const discard = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    isWaited = true
  }
  const begin = () => ({ discard }) as unknown as ReturnType<Uploads['begin']>
  const uploads: Uploads = { begin, countRunning: () => 0 }
  const receive = createReceivePush({ uploads, limits: LIMITS, body: BODY })
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"push":{}}',
  })
  const incoming = {
    ...{ exchange: { request, stayOpen: () => undefined } as never, viewer: {} as never },
    ...{ isFingerprinted: false, wrappers: ['push'], isRepeat: () => false },
    revise: () => {
      throw new DomainError(code, 'refused')
    },
  }
  const cause: unknown = await receive(incoming, async () => 'made').catch((cause) => cause)
  return { code: cause instanceof DomainError ? cause.code : String(cause), isWaited }
}

test('stored files are removed before the refusal is answered', async () => {
  expect(await refuse('invalid')).toEqual({ code: 'invalid', isWaited: true })
})

test('after a database timeout the client does not wait for their removal', async () => {
  expect(await refuse('overloaded')).toEqual({ code: 'overloaded', isWaited: false })
})
