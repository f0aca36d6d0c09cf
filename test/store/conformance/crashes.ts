// Guarantees of every engine that a test can stop at a step: after a crash at any step, each operation is
// complete or not done, and acknowledged ones are kept.

import { expect, test } from 'bun:test'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { grantLifetime } from '../../../src/domain/files.ts'
import { DAY } from '../../../src/domain/time.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { TestClock } from '../../support/instance.ts'
import { examplePush, VISIT } from '../../support/store.ts'
import { untilDone } from '../../support/waiting.ts'
import { type OpenedEngine, readKinds } from './engine.ts'

export type CrashingEngine = OpenedEngine & {
  /** The data as a crash would leave it at each step since the opening, with the name of the step. */
  listCrashes(): readonly Crash[]
}

export type Crash = { step: string; open(): Promise<OpenedEngine> }

type Deed = (opened: Pick<OpenedEngine, 'store' | 'clock'>) => Promise<unknown>

const SIZE = 40
const bytes = (length: number, fill: number) => Buffer.alloc(length, fill)
const LOOKUPS = [bytes(16, 1), bytes(16, 2)] as const
const KEY = bytes(32, 9)

async function* content() {
  yield bytes(sealedSize(SIZE), 7)
}

/** A story that contains each operation on a push once. */
const STORY: Deed[] = [
  ({ store }) => store.files.keepFile('aa1', content()),
  ({ store, clock }) => create(store, { clock, of: 0, views: 2 }),
  ({ store, clock }) => create(store, { clock, of: 1, views: 9 }),
  async ({ store }) => store.pushes.claimView({ id: await idOf(store, 0), visit: VISIT, lookBy: null }),
  async ({ store }) => store.pushes.claimView({ id: await idOf(store, 0), visit: VISIT, lookBy: null }),
  async ({ store }) => store.pushes.expirePush({ id: await idOf(store, 1), visit: VISIT }),
  async ({ clock }) => clock.advance(grantLifetime(SIZE)),
  ({ store }) => store.files.removeDue(),
  async ({ clock }) => clock.advance(2 * DAY),
  ({ store, clock }) => store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() }),
]

function create(store: Store, { clock, of, views }: { clock: TestClock; of: 0 | 1; views: number }) {
  const part = bytes(62, 3 + of)
  const name = bytes(4, 5)
  return store.pushes.createPush({
    push: examplePush(clock.now(), { expireAfterViews: views }),
    ownerResets: 0,
    lookup: LOOKUPS[of],
    keyNumber: 1,
    secrets: { salt: part.subarray(0, 16), wrappedKey: part, payload: part, passphraseSalt: null },
    labels: null,
    files: of === 0 ? [{ fileId: 'aa1', size: SIZE, filename: name, contentType: name }] : [],
    mails: [],
    answer: null,
    idempotency: of === 0 ? null : { lookup: KEY, lapsesAt: clock.now() + DAY, answer: bytes(88, 3) },
    share: null,
    visit: VISIT,
  })
}

async function idOf(store: Store, of: 0 | 1): Promise<number> {
  return (await store.pushes.findPush(LOOKUPS[of]))?.id ?? 0
}

/** Reads everything that the story changes through the contract of the store. */
async function look({ store }: Pick<OpenedEngine, 'store'>) {
  const pushes = []
  for (const lookup of LOOKUPS) {
    const found = await store.pushes.findSealedPush(lookup)
    if (found === null) pushes.push(null)
    else {
      const { views, expiredOn, deleted } = found.push
      const hasSecrets = found.sealed !== null
      pushes.push({ views, expiredOn, deleted, hasSecrets, log: await readKinds({ store }, found.push.id) })
    }
  }
  const kept = await store.idempotencyKeys.findKey(KEY)
  const key = kept === null ? 'none' : (kept.answer?.length ?? 'ended')
  return { pushes, key, count: await store.health.countPushes() }
}

export function describeCrashes(open: () => Promise<CrashingEngine>): void {
  test('at any step leaves each operation complete or not done, and keeps all that was acknowledged', async () => {
    const engine = await open()
    const truth = [await untilDone(() => look(engine))]
    /** How many operations were acknowledged before each step. */
    const acknowledged: number[] = []
    for (const [done, deed] of STORY.entries()) {
      await deed(engine)
      truth.push(await untilDone(() => look(engine)))
      while (acknowledged.length < engine.listCrashes().length) acknowledged.push(done)
    }
    const crashes = engine.listCrashes()
    expect(crashes.length).toBeGreaterThan(STORY.length)
    for (const [index, { step, open: reopen }] of crashes.entries()) {
      const after = await reopen()
      const seen = await untilDone(() => look(after))
      const done = acknowledged[index] ?? 0
      expect({ step, done, isWhole: [done, done + 1].some((n) => Bun.deepEquals(truth[n], seen)) }).toEqual({
        step,
        done,
        isWhole: true,
      })
      await expectFileOfLivePush(after, seen)
      await after.close()
    }
    await engine.close()
  }, 300_000)
}

/** A push must not name a missing file while its secrets exist. */
async function expectFileOfLivePush(
  { store }: Pick<OpenedEngine, 'store'>,
  { pushes: [first] }: Awaited<ReturnType<typeof look>>,
): Promise<void> {
  if (first?.hasSecrets) expect(await store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
}
