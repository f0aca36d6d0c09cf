// Guarantees of every engine while the clock of the machine is wrong: it starts, stores, opens and sweeps,
// and destroys nothing by an unconfirmed time.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY, HOUR } from '../../../src/domain/time.ts'
import { storePush, view } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

export function describeClock(open: OpenEngine): void {
  let opened: OpenedEngine
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())
  const jump = (ms: number) => opened.clock.set(opened.clock.now() + ms)

  /** Creates, opens and sweeps. */
  async function work(): Promise<void> {
    const push = await storePush(opened, { expiresAt: opened.clock.now() + 1_000 * DAY })
    expect((await view(opened, push))?.outcome).toBe('view')
    await opened.store.expiry.expireLapsed()
  }

  for (const days of [8, 30, 400]) {
    test(`a store starts ${days} days after its last use, and again after the clock is corrected`, async () => {
      const push = await storePush(opened)
      jump(days * DAY)
      for (let start = 0; start < 2; start += 1) {
        await opened.reopen()
        await work()
        expect((await view(opened, push))?.outcome).toBe('expired')
      }
      jump(-days * DAY)
      await opened.reopen()
      await work()
      expect((await view(opened, push))?.outcome).toBe('view')
    })
  }

  for (const days of [2, 365]) {
    test(`the store’s clock keeps its pace while the system clock jumps by ${days} days, ahead and back`, async () => {
      const push = await storePush(opened, { expiresAt: opened.clock.now() + 20 * DAY })
      for (const [way, outcome] of [
        [1, days < 3 ? 'view' : 'expired'],
        [-1, 'view'],
        [-1, 'view'],
      ] as const) {
        jump(way * days * DAY)
        for (let hour = 0; hour < 2; hour += 1) {
          await work()
          opened.clock.advance(HOUR)
        }
        expect((await view(opened, push))?.outcome).toBe(outcome)
      }
    })
  }

  test('a clock in doubt records no last use of an API token, and a last use in the future is corrected', async () => {
    const { accounts, apiTokens } = opened.store
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }
    const { id: accountId } = await accounts.addAccount(account)
    const hash = Buffer.alloc(32, 7)
    const token = { accountId, name: 'laptop', prefix: 'obx', hash, session: null, mail: null }
    await apiTokens.addApiToken(token)
    const use = async () => {
      const found = await apiTokens.findByHash(hash)
      if (found !== null) await apiTokens.noteUse(found)
      return (await apiTokens.findByHash(hash))?.lastUsedAt
    }
    const before = opened.clock.now()
    expect(await use()).toBe(before)
    jump(100 * DAY)
    expect(await use()).toBe(before)
    jump(-100 * DAY)
    opened.clock.advance(HOUR)
    const after = opened.clock.now()
    expect(await use()).toBe(after)
    const found = await apiTokens.findByHash(hash)
    opened.clock.advance(1_000)
    if (found !== null) await apiTokens.noteUse({ ...found, lastUsedAt: after + 100 * DAY })
    expect((await apiTokens.findByHash(hash))?.lastUsedAt).toBe(after + 1_000)
  })
}
