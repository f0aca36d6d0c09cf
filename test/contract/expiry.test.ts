import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, PUSHES, type PushBody, startApi } from '../support/api.ts'
import { awaitOthers, pass, passUntil } from '../support/timers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let api: Api
let owner: string

beforeEach(async () => {
  api = await startApi({ flags: { 'purge-after': '3d' } })
  owner = await api.addAccount('owner@example.org')
})

afterEach(() => {
  jest.useRealTimers()
  return api.close()
})

/**
 * Returns the salt of each push that has secrets, in the order of creation. A salt vanishes with the secrets.
 */
function readSalts(dataDir: string): Buffer[] {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  const query = database.query<{ salt: Uint8Array }, []>('SELECT salt FROM push_secrets ORDER BY push_id')
  const rows = query.all()
  query.finalize()
  database.close()
  return rows.map(({ salt }) => Buffer.from(salt))
}

const kinds = () => api.entries().map(({ kind }) => kind)
const lapsed = {
  expired: true,
  deleted: false,
  payload: null,
  files: [],
  expired_on: '2026-11-21T12:00:00.000Z',
}

describe('a push lives', () => {
  test('until a millisecond before its expiry', async () => {
    const { url_token } = await api.create({ expire_after_days: 1, expire_after_views: 9 })
    api.clock.advance(DAY - 1)
    expect((await api.retrieve(url_token)).body).toMatchObject({ expired: false, payload: 'correct horse' })
    api.clock.advance(1)
    expect((await api.retrieve(url_token)).body).toMatchObject(lapsed)
    expect(kinds()).toEqual(['creation', 'view'])
  })

  test('only until its last view, even if there is time left', async () => {
    const { url_token } = await api.create({ expire_after_views: 1 })
    api.clock.advance(HOUR)
    expect((await api.retrieve(url_token)).body).toMatchObject({ expired: false, views_remaining: 0 })
    api.clock.advance(HOUR)
    const expired = { expired: true, deleted: false, payload: null, expired_on: '2026-11-20T13:00:00.000Z' }
    expect((await api.retrieve(url_token)).body).toMatchObject(expired)
  })
})

const DURATIONS: [index: number, lifetime: number, days: number][] = [
  [0, 15 * MINUTE, 1],
  [1, 30 * MINUTE, 1],
  [2, 45 * MINUTE, 1],
  [3, HOUR, 1],
  [4, 6 * HOUR, 1],
  [5, 12 * HOUR, 1],
  ...[1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90].map((days, at): [number, number, number] => [
    at + 6,
    days * DAY,
    days,
  ]),
]

describe('expire_after_duration', () => {
  const lifetimeOf = ({ created_at, expires_at }: PushBody) => Date.parse(expires_at) - Date.parse(created_at)

  test('is an index of durations, and is presented rounded up to whole days', async () => {
    for (const [index, lifetime, days] of DURATIONS) {
      const push = await api.create({ expire_after_duration: index })
      expect([lifetimeOf(push), push.expire_after_days, push.days_remaining]).toEqual([lifetime, days, days])
      const words = await api.create({ expire_after_duration: String(index) })
      expect(lifetimeOf(words)).toBe(lifetime)
    }
  })

  test('together with days uses the shorter', async () => {
    const shorter = await api.create({ expire_after_duration: 0, expire_after_days: 30 })
    expect([lifetimeOf(shorter), shorter.expire_after_days]).toEqual([15 * MINUTE, 1])
    const longer = await api.create({ expire_after_duration: 17, expire_after_days: 30 })
    expect([lifetimeOf(longer), longer.expire_after_days]).toEqual([30 * DAY, 30])
  })

  test('under a day is allowed whatever the minimum of days; above the maximum it is refused', async () => {
    const days = {
      'expire-after-days-min': '3',
      'expire-after-days-default': '4',
      'expire-after-days-max': '10',
    }
    const strict = await startApi({ flags: days })
    try {
      expect(lifetimeOf(await strict.create({ expire_after_duration: 5 }))).toBe(12 * HOUR)
      expect(lifetimeOf(await strict.create({ expire_after_duration: 8 }))).toBe(3 * DAY)
      const { status, body } = await strict.post({ payload: 'a', expire_after_duration: 13 })
      expect([status, Object.keys(body)]).toEqual([422, ['error', 'expire_after_duration']])
    } finally {
      await strict.close()
    }
  })

  test('ends a push to the millisecond', async () => {
    const { url_token } = await api.create({ expire_after_duration: 0 })
    api.clock.advance(15 * MINUTE - 1)
    expect((await api.retrieve(url_token)).body.payload).toBe('correct horse')
    api.clock.advance(1)
    expect((await api.retrieve(url_token)).body).toMatchObject({ expired: true, payload: null })
  })
})

describe('a push expires at expires_at, whatever notices it and when:', () => {
  let push: PushBody

  beforeEach(async () => {
    push = await api.create({ expire_after_days: 1, passphrase: 'sesame' }, { token: owner })
    api.clock.advance(DAY + 7 * HOUR)
  })

  test('a retrieval, which is asked for no passphrase', async () => {
    expect((await api.retrieve(push.url_token)).body).toMatchObject(lapsed)
    expect(kinds()).toEqual(['creation', 'failed_view'])
  })

  test('a retrieval with a wrong passphrase', async () => {
    expect((await api.retrieve(`${push.url_token}?passphrase=wrong`)).body).toMatchObject(lapsed)
    expect(kinds()).toEqual(['creation', 'failed_view'])
  })

  test('its owner’s lists', async () => {
    expect(await api.list('active', owner)).toEqual([])
    const { payload: _, files: __, ...told } = lapsed
    expect(await api.list('expired', owner)).toMatchObject([{ ...told, url_token: push.url_token }])
    expect(kinds()).toEqual(['creation'])
  })

  test('a deletion, which changes nothing', async () => {
    const { payload: _, ...told } = lapsed
    expect((await api.expire(push.url_token, { token: owner })).body).toMatchObject(told)
    expect(kinds()).toEqual(['creation'])
  })

  test('the sweeper, hours before the first request', async () => {
    expect(await api.sweep()).toMatchObject({ expired: 1, purged: 0 })
    api.clock.advance(HOUR)
    expect((await api.retrieve(push.url_token)).body).toMatchObject(lapsed)
    expect(kinds()).toEqual(['creation', 'failed_view'])
  })

  test('nothing: when its time is up, its secrets disappear from the database, its WAL and its files', async () => {
    jest.useFakeTimers()
    const rare = await passUntil(startApi({ flags: { 'sweep-every': '1h' } }))
    const token = await passUntil(rare.addAccount('rare@example.org'))
    const files = [{ filename: 'a.txt', data: 'aGVsbG8=' }]
    const { expires_at } = await passUntil(rare.create({ files, expire_after_duration: 0 }, { token }))
    const { url_token: kept } = await passUntil(rare.create({ expire_after_duration: 1 }))
    const salts = readSalts(rare.dataDir)
    const isOnDisk = (salt: Buffer) =>
      ['oncebox.db', 'oncebox.db-wal'].some((name) => readFileSync(join(rare.dataDir, name)).includes(salt))
    rare.clock.set(Date.parse(expires_at) - 1)
    await pass(1_500)
    expect(salts.map(isOnDisk)).toEqual([true, true])
    rare.clock.set(Date.parse(expires_at))
    await pass(9_000)
    await awaitOthers(() => salts.map(isOnDisk)[0] === false)
    expect(salts.map(isOnDisk)).toEqual([false, true])
    expect(readSalts(rare.dataDir)).toEqual(salts.slice(1))
    const left = readdirSync(join(rare.dataDir, 'files'), { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile())).toEqual([])
    expect((await passUntil(rare.retrieve(kept))).body.payload).toBe('correct horse')
    await passUntil(rare.close())
    jest.useRealTimers()
  })

  test('only a preview', async () => {
    const preview = await api.call(`${PUSHES}/${push.url_token}/preview`)
    expect(preview.body).toEqual({ url: push.html_url, expired: true, passphrase_required: true })
  })
})

describe('a clock that jumps back revives nothing', () => {
  const noticed: [string, (urlToken: string) => Promise<unknown>][] = [
    ['a retrieval', (urlToken) => api.retrieve(urlToken)],
    ['a list', () => api.list('active', owner)],
    ['the sweeper', () => api.sweep()],
  ]

  test.each(noticed)(
    'once %s has noticed the expiry, in the same process and across a restart',
    async (_, notice) => {
      const { url_token } = await api.create({ expire_after_duration: 3 }, { token: owner })
      api.clock.advance(HOUR)
      await notice(url_token)
      api.clock.advance(-30 * MINUTE)
      expect((await api.retrieve(url_token)).body).toMatchObject({ expired: true, payload: null })
      await api.restart()
      expect((await api.retrieve(url_token)).body).toMatchObject({ expired: true, payload: null })
      expect(await api.list('active', owner)).toEqual([])
      expect((await api.list('expired', owner)).map((push) => push.expired_on)).toEqual([
        '2026-11-20T13:00:00.000Z',
      ])
    },
  )

  test('and extends no push', async () => {
    const { url_token } = await api.create({ expire_after_duration: 3 })
    api.clock.advance(50 * MINUTE)
    await api.retrieve(url_token)
    api.clock.advance(-40 * MINUTE)
    const { created_at } = await api.create()
    expect(created_at).toBe('2026-11-20T12:50:00.000Z')
  })
})

describe('an expired push', () => {
  const isGone = async (urlToken: string) => {
    const { status, body } = await api.retrieve(urlToken)
    return status === 404 && 'error' in body && body.error === 'not-found'
  }

  test('of a visitor answers as expired for 24 hours, then is purged', async () => {
    const viewed = (await api.create({ expire_after_views: 1 })).url_token
    const deleted = (await api.create()).url_token
    await api.retrieve(viewed)
    await api.expire(deleted)
    api.clock.advance(DAY - 1)
    await api.sweep()
    expect([await isGone(viewed), await isGone(deleted)]).toEqual([false, false])
    api.clock.advance(1)
    expect(await api.sweep()).toMatchObject({ expired: 0, purged: 2 })
    expect([await isGone(viewed), await isGone(deleted)]).toEqual([true, true])
    expect((await api.call(`${PUSHES}/${viewed}/preview`)).status).toBe(404)
    expect((await api.expire(viewed)).status).toBe(404)
    expect(kinds()).toEqual([])
  })

  test('of a visitor counts its 24 hours from expires_at, even if the expiry was recorded later', async () => {
    const { url_token } = await api.create({ expire_after_days: 1 })
    api.clock.advance(2 * DAY)
    expect(await api.sweep()).toMatchObject({ expired: 1, purged: 1 })
    expect(await isGone(url_token)).toBe(true)
  })

  test('of an account is kept with its audit log until --purge-after', async () => {
    const { url_token } = await api.create({ expire_after_views: 1, name: 'router' }, { token: owner })
    await api.retrieve(url_token)
    api.clock.advance(3 * DAY - 1)
    await api.sweep()
    expect((await api.list('expired', owner)).map(({ name }) => name)).toEqual(['router'])
    expect((await api.audit(url_token, owner)).map(({ kind }) => kind)).toEqual(['creation', 'view'])
    api.clock.advance(1)
    await api.sweep()
    expect(await api.list('expired', owner)).toEqual([])
    expect((await api.call(`${PUSHES}/${url_token}/audit`, { token: owner })).status).toBe(404)
    expect(await isGone(url_token)).toBe(true)
  })
})
