// Guarantees of every engine for the owner of pushes: edits, and ending several pushes in one step.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY } from '../../../src/domain/time.ts'
import type { EditToPush } from '../../../src/store/pushes-contract.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import { type OpenEngine, type OpenedEngine, readKinds } from './engine.ts'

const NOTHING = {
  ...{ expireAfterDays: null, duration: null, expiresAt: null, expireAfterViews: null },
}

const textOf = (sealed: Uint8Array | null | undefined) => new TextDecoder().decode(sealed ?? undefined)

export function describeOwners(open: OpenEngine): void {
  let opened: OpenedEngine
  let ownerId: number
  beforeEach(async () => {
    opened = await open()
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    ownerId = (await opened.store.accounts.addAccount(account)).id
  })
  afterEach(() => opened.close())

  const labels = { urlToken: Buffer.from('token'), name: Buffer.from('before'), note: null, request: null }
  const push = (changes: Parameters<typeof storePush>[1] = {}) =>
    storePush(opened, { ownerId, ...changes }, { labels })
  const edit = (
    id: number,
    { labels: changed = {}, ...limits }: Partial<EditToPush['edit'] & EditToPush> = {},
  ) =>
    opened.store.pushes.editPush({
      ...{ id, ownerId, visit: VISIT, labels: changed },
      edit: { ...NOTHING, ...limits },
    })

  test('an edit changes labels and limits in one step, is audited, and survives a restart', async () => {
    const { id, lookup } = await push({ expireAfterDays: 7, expiresAt: opened.clock.now() + 7 * DAY })
    const changed = { name: Buffer.from('after'), note: Buffer.from('why') }
    const edited = await edit(id, { expireAfterDays: 2, expireAfterViews: 3, labels: changed })
    expect(edited).toMatchObject({ outcome: 'edited', push: { expireAfterDays: 2, expireAfterViews: 3 } })
    await opened.reopen()
    const found = await opened.store.pushes.findPush(lookup)
    expect(found).toMatchObject({ expireAfterDays: 2, expireAfterViews: 3 })
    expect(found?.expiresAt).toBe((found?.createdAt ?? 0) + 2 * DAY)
    const kept = await opened.store.lists.findLabels(id)
    expect([kept?.name, kept?.note].map(textOf)).toEqual(['after', 'why'])
    expect(await readKinds(opened, id)).toEqual(['creation', 'edit'])
    opened.clock.advance(2 * DAY)
    await opened.store.expiry.expireLapsedOf(ownerId)
    expect((await opened.store.pushes.findPush(lookup))?.expiredOn).toBe(found?.expiresAt ?? 0)
  })

  test('a refused edit changes nothing, and neither does an edit to the same values', async () => {
    const { id, lookup } = await push()
    const before = await opened.store.pushes.findPush(lookup)
    const changed = { name: Buffer.from('after') }
    expect(await edit(id, { expireAfterViews: 6, labels: changed })).toEqual({
      outcome: 'refused',
      problems: { expire_after_views: [{ code: 'out_of_range', min: 1, max: 5 }] },
    })
    expect(await edit(id, { expireAfterViews: 5 })).toMatchObject({ outcome: 'edited' })
    expect(await opened.store.pushes.findPush(lookup)).toEqual(before)
    expect(textOf((await opened.store.lists.findLabels(id))?.name)).toBe('before')
    expect(await readKinds(opened, id)).toEqual(['creation'])
  })

  test('a push of another owner cannot be edited', async () => {
    const { id } = await storePush(opened)
    expect(await edit(id, { expireAfterViews: 1 })).toBeNull()
    expect(await edit(id + 1)).toBeNull()
  })

  test('views and edits that race never lead to more views than allowed', async () => {
    const { id, lookup } = await push({ expireAfterViews: 9 })
    const views = Array.from({ length: 6 }, () => view(opened, { id }))
    const results = await Promise.all([
      ...views,
      edit(id, { expireAfterViews: 3 }),
      edit(id, { expireAfterViews: 7 }),
    ])
    const counted = results.slice(0, 6).filter((one) => one?.outcome === 'view').length
    const found = await opened.store.pushes.findPush(lookup)
    expect(found?.views).toBe(counted)
    expect(counted).toBeLessThanOrEqual(found?.expireAfterViews ?? 0)
  })

  test('several pushes end in one step, and only those of their owner', async () => {
    const own = await Promise.all([push(), push(), push()])
    const other = await storePush(opened)
    const [ended] = own
    await opened.store.pushes.expirePush({ id: ended?.id ?? 0, visit: VISIT })
    const ids = [...own.map(({ id }) => id), other.id, 999]
    expect(await opened.store.pushes.expirePushes({ ids, ownerId, visit: VISIT })).toBe(2)
    for (const { lookup } of own)
      expect((await opened.store.pushes.findSealedPush(lookup))?.sealed).toBeNull()
    expect((await opened.store.pushes.findPush(other.lookup))?.expiredOn).toBeNull()
    expect(await readKinds(opened, own[2]?.id ?? 0)).toEqual(['creation', 'expire'])
  })

  test('facts and texts of all pushes of a list are read in pieces, newest first', async () => {
    const ids: number[] = []
    for (let n = 0; n < 3; n += 1) ids.unshift((await push()).id)
    await storePush(opened)
    await view(opened, { id: ids[1] ?? 0 })
    await opened.store.pushes.expirePush({ id: ids[2] ?? 0, visit: VISIT })
    const { lists } = opened.store
    const factsOf = async (expired: boolean) =>
      (await Array.fromAsync(lists.readFacts({ ownerId, expired }))).flat()
    const live = await factsOf(false)
    expect(live.map(({ id, views, seenViews }) => ({ id, views, seenViews }))).toEqual([
      { id: ids[0] ?? 0, views: 0, seenViews: 0 },
      { id: ids[1] ?? 0, views: 1, seenViews: 0 },
    ])
    expect(live.map(({ lastViewedAt }) => lastViewedAt)).toEqual([0, opened.clock.now()])
    expect((await factsOf(true)).map(({ id, expiredOn }) => [id, expiredOn])).toEqual([
      [ids[2] ?? 0, opened.clock.now()],
    ])
    const texts = await lists.readTexts([...ids, 999])
    expect(texts.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(textOf(texts[0]?.name)).toBe('before')
    expect(await lists.countOwned(ownerId)).toEqual({ active: 2, new: 1, expired: 0 })
  })

  test('a list by ids has the order of the ids, and no push of another owner', async () => {
    const [one, two] = [await push(), await push()]
    const other = await storePush(opened, {}, { labels })
    const ids = [one.id, other.id, 999, two.id]
    const listed = await opened.store.lists.listByIds({ ownerId, ids })
    expect(listed.map(({ push: { id } }) => id)).toEqual([one.id, two.id])
  })

  test('the number of views that an owner has seen is stored, and only the owner changes it', async () => {
    const { id } = await push()
    const seen = async () => (await opened.store.lists.findLabels(id))?.seenViews
    await view(opened, { id })
    await view(opened, { id })
    await opened.store.lists.markSeen({ ownerId: ownerId + 1, ids: [id] })
    expect(await seen()).toBe(0)
    await opened.store.lists.markSeen({ ownerId, ids: [id, 999] })
    await view(opened, { id })
    await opened.reopen()
    expect(await seen()).toBe(2)
  })
}
