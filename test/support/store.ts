// A store in a temporary folder, and pushes to put into it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { visitFrom } from '../../src/domain/audit.ts'
import type { Push } from '../../src/domain/push.ts'
import { createJobs } from '../../src/operating/jobs.ts'
import type { Store } from '../../src/store/contract.ts'
import type { OpenedStore } from '../../src/store/opening/opened-store.ts'
import { openStore } from '../../src/store/opening/sqlite-store.ts'
import type { PushToStore } from '../../src/store/pushes-contract.ts'
import type { RequestToStore } from '../../src/store/requests-contract.ts'
import type { BucketOptions } from '../../src/store/s3/bucket.ts'
import { createTestClock, type TestClock } from './instance.ts'

export const VISIT = visitFrom({ ip: '192.0.2.7', userAgent: 'test', referrer: '' })

export type TestStore = { store: OpenedStore; clock: TestClock; dataDir: string; close(): Promise<void> }

export async function openTestStore(
  options: {
    dataDir?: string
    clock?: TestClock
    acceptClock?: boolean
    acceptMove?: boolean
    isServer?: boolean
    bucket?: BucketOptions | null
    minFreeSpace?: number
    onError?: (cause: unknown) => void
    onWarning?: (warning: string) => void
  } = {},
): Promise<TestStore> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'oncebox-store-'))
  const clock = options.clock ?? createTestClock()
  const fail = (cause: unknown) => {
    throw cause
  }
  const opened = await openStore({
    dataDir,
    keyFile: null,
    clock: {
      systemNow: clock.now,
      uptime: clock.uptime,
      maxGap: 7 * 24 * 60 * 60 * 1000,
      accept: options.acceptClock ?? false,
    },
    acceptMove: options.acceptMove ?? false,
    isServer: options.isServer ?? true,
    bucket: options.bucket ?? null,
    minFreeSpace: options.minFreeSpace ?? 0,
    onError: options.onError ?? fail,
    onWarning: options.onWarning ?? (() => undefined),
    onFatal: fail,
  })
  const onError = options.onError ?? fail
  const log = {
    error: (fields: object, message: string) => onError('err' in fields ? fields.err : new Error(message)),
  }
  const jobs = createJobs({ jobs: opened.jobs, now: opened.now, log })
  await jobs.start()
  const store: OpenedStore = {
    ...opened,
    close: async () => {
      await jobs.stop()
      await opened.close()
    },
  }
  const close = async () => {
    await store.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { store, clock, dataDir, close }
}

/** A live push, as rules get it. */
export function examplePush(now: number, changes: Partial<Push> = {}): Push {
  return {
    kind: 'text',
    ownerId: null,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + 86_400_000,
    expireAfterDays: 1,
    expireAfterViews: 5,
    views: 0,
    lastViewedAt: 0,
    deletableByViewer: true,
    retrievalStep: true,
    showsSender: true,
    codeRequired: false,
    passphraseRequired: false,
    encryptedBy: null,
    keyCheck: null,
    wrongTries: 0,
    wrongTriesSince: now,
    wrongTriesInAll: 0,
    triesSpent: false,
    expiredOn: null,
    deleted: false,
    lost: false,
    isNew: false,
    ...changes,
  }
}

/** An open request of an account, for one text. */
export function exampleRequest(accountId: number, now: number): RequestToStore {
  return {
    ...{ lookup: Buffer.alloc(16, 1), keyNumber: 1, accountId, recipient: null, showsSender: false },
    ...{ acceptsText: true, acceptsFiles: false, maxAnswers: 1, answers: 0 },
    ...{ createdAt: now, expiresAt: now + 86_400_000, closedAt: null },
    ...{ wrongTries: 0, wrongTriesSince: now, wrongTriesInAll: 0 },
    ...{ urlToken: Buffer.from('token'), name: null, message: Buffer.from('message') },
    ...{ passphraseSalt: null, verifier: null },
  }
}

let made = 0

export type PushingStore = { store: { pushes: Store['pushes'] }; clock: TestClock }

/** Stores a push. `changes`: to its rules; `parts`: of everything that is stored with it. */
export function storePush(
  { store, clock }: PushingStore,
  changes: Partial<Push> = {},
  parts: Partial<PushToStore> = {},
) {
  made += 1
  const lookup = Buffer.alloc(16)
  lookup.writeUInt32BE(made, 0)
  const bytes = Buffer.alloc(62, 1 + (made % 255))
  const secrets = { salt: bytes.subarray(0, 16), wrappedKey: bytes, payload: bytes, passphraseSalt: null }
  return store.pushes.createPush({
    push: examplePush(clock.now(), changes),
    ownerResets: 0,
    lookup,
    keyNumber: 1,
    secrets,
    labels: null,
    files: [],
    answer: null,
    idempotency: null,
    mails: [],
    share: null,
    visit: VISIT,
    ...parts,
  })
}

/** Claims a view of a push whose secrets need not be real. */
export function view({ store }: Pick<PushingStore, 'store'>, { id }: { id: number }) {
  return store.pushes.claimView({ id, visit: VISIT, lookBy: null })
}

/**
 * Expires all pushes whose time is up, and returns their number. A step takes a few milliseconds, and so
 * handles more or fewer pushes.
 */
export async function expireAllLapsed({ store }: Pick<TestStore, 'store'>): Promise<number> {
  let expired = 0
  for (let some = -1; some !== 0; ) {
    some = await store.expiry.expireLapsed()
    expired += some
  }
  return expired
}

/**
 * Repeats a step until it finds nothing more, and resolves to the sum. Each step does as much as its time
 * allows.
 */
export async function drain(step: () => Promise<number>): Promise<number> {
  let total = 0
  for (let done = 1; done > 0; total += done) done = await step()
  return total
}
