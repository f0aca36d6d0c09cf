// Editing a push: its owner changes name and note, and makes it end sooner.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, type PushBody, startApi, type Wire } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { runScenarios } from '../support/scenarios.ts'

const edit = (push: Wire): Init => ({ method: 'PATCH', json: { push } })
const ask = 'PATCH /api/v2/pushes/{push}'
const asOwner = { ask, as: 'owner' } as const
const LIMITS = { expire_after_days: 7, expire_after_views: 5 }

describe('who may edit a push', () => {
  runScenarios([
    {
      ...asOwner,
      name: 'its owner',
      init: edit({ name: 'VPN', note: 'for Cleo' }),
      status: 200,
      body: { name: 'VPN', note: 'for Cleo', passphrase: null, expired: false },
      audit: ['edit'],
    },
    {
      name: 'nobody without a token',
      ask,
      init: edit({ name: 'x' }),
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    },
    { name: 'not another account', ask, as: 'other', init: edit({ name: 'x' }), status: 403 },
    {
      name: 'nobody, when it is nobody’s',
      of: 'visitor',
      ask,
      as: 'owner',
      init: edit({ name: 'x' }),
      status: 403,
    },
    {
      name: 'not one with an invalid token',
      ask,
      init: { ...edit({ name: 'x' }), headers: { 'x-user-token': 'wrong' } },
      status: 401,
    },
    {
      name: 'and there has to be a push',
      ask: 'PATCH /api/v2/pushes/00000000000000000000000000',
      as: 'owner',
      init: edit({ name: 'x' }),
      status: 404,
      exactly: { error: 'not-found' },
    },
    {
      name: 'and not somebody else, before the body is looked at',
      ask,
      as: 'other',
      init: { method: 'PATCH', body: '{', headers: { 'content-type': 'application/json' } },
      status: 403,
    },
    {
      ...asOwner,
      name: 'with .json, too',
      ask: `${ask}.json`,
      init: edit({ name: 'x' }),
      status: 200,
      audit: ['edit'],
    },
  ])
})

describe('what can be changed', () => {
  runScenarios([
    {
      ...asOwner,
      name: 'fewer days, counted from its creation',
      push: LIMITS,
      init: edit({ expire_after_days: 2 }),
      status: 200,
      body: { expire_after_days: 2, days_remaining: 2, expire_after_views: 5 },
      audit: ['edit'],
    },
    {
      ...asOwner,
      name: 'fewer views, which is spelled as clients spell numbers',
      push: LIMITS,
      init: edit({ expire_after_views: '2' }),
      status: 200,
      body: { expire_after_views: 2, views_remaining: 2, expire_after_days: 7 },
      audit: ['edit'],
    },
    {
      ...asOwner,
      name: 'a duration, and the shorter of it and days wins',
      push: LIMITS,
      init: edit({ expire_after_duration: 3, expire_after_days: 2 }),
      status: 200,
      body: { expire_after_days: 1 },
      audit: ['edit'],
    },
    {
      ...asOwner,
      name: 'an empty text removes name and note; null leaves them',
      push: { name: 'n', note: 'o' },
      init: edit({ name: '', note: null }),
      status: 200,
      body: { name: '', note: 'o' },
      audit: ['edit'],
    },
    {
      ...asOwner,
      name: 'nothing, which is not audited',
      push: { ...LIMITS, name: 'n' },
      init: edit({
        name: 'n',
        expire_after_days: 7,
        expire_after_views: '5',
        color: 'red',
        ...{ passphrase: null, expired_on: null, files: null, payload: '' },
      }),
      status: 200,
      body: { name: 'n', expire_after_days: 7 },
    },
    {
      ...asOwner,
      name: 'name and note of an expired push',
      push: { name: 'n' },
      before: ({ api, push, tokens }) => api.expire(push.url_token, { token: tokens.owner! }),
      init: edit({ name: 'done', note: 'used' }),
      status: 200,
      body: { name: 'done', note: 'used', expired: true, deleted: true },
      audit: ['edit'],
    },
  ])
})

describe('what cannot be changed', () => {
  const refused = (name: string, wanted: Wire, fields: string[], more: Wire = {}) => ({
    ...asOwner,
    name,
    push: LIMITS,
    init: edit(wanted),
    status: 422,
    members: ['error', ...fields],
    ...more,
  })
  const viewed = { before: ({ api, push }: { api: Api; push: PushBody }) => api.retrieve(push.url_token) }
  runScenarios([
    refused('more days', { expire_after_days: 8 }, ['expire_after_days']),
    refused('more views', { expire_after_views: 6 }, ['expire_after_views']),
    refused('a longer duration', { expire_after_duration: 17 }, ['expire_after_duration']),
    refused('days and views that are none', { expire_after_days: 0, expire_after_views: -1 }, [
      'expire_after_days',
      'expire_after_views',
    ]),
    refused('views that are used already', { expire_after_views: 1 }, ['expire_after_views'], viewed),
    refused(
      'a name that is too long, though the other members are valid',
      { name: 'x'.repeat(256), expire_after_days: 1 },
      ['name'],
    ),
    refused('the rest, when one limit is refused', { name: 'new', expire_after_days: 30 }, [
      'expire_after_days',
    ]),
    refused(
      'what opens it and what is in it',
      { payload: 'other', passphrase: 'sesame', files: [], kind: 'url', retrieval_step: false },
      ['payload', 'passphrase', 'files', 'kind', 'retrieval_step'],
    ),
    refused(
      'members that only a create knows',
      { notify_emails_to: 'ann@example.org', notify_emails_to_locale: 'de' },
      ['notify_emails_to', 'notify_emails_to_locale'],
    ),
    refused(
      'any other member, each of which is named beside invalid limits',
      { expire_after_days: 30, expires_at: '2027-01-01T00:00:00.000Z', deleted: false, name: 'new' },
      ['expire_after_days', 'expires_at', 'deleted'],
    ),
    refused('limits of an expired push', { expire_after_days: 1 }, ['expire_after_days'], {
      before: ({ api, push, tokens }: { api: Api; push: PushBody; tokens: Record<string, string> }) =>
        api.expire(push.url_token, { token: tokens.owner ?? '' }),
    }),
    {
      ...asOwner,
      name: 'anything without the wrapper',
      init: { method: 'PATCH', json: { name: 'x' } },
      status: 400,
    },
    {
      ...asOwner,
      name: 'anything in another content type',
      init: { method: 'PATCH', body: 'name=x', headers: { 'content-type': 'text/plain' } },
      status: 415,
    },
  ])
})

describe('an edited push', () => {
  let api: Api
  let ann: string
  beforeAll(async () => {
    api = await startApi()
    ann = await api.addAccount('ann@example.org')
  })
  afterAll(() => api.close())
  const patch = (urlToken: string, push: Wire, init = {}) =>
    api.call<PushBody>(`${PUSHES}/${urlToken}`, { ...edit(push), token: ann, ...init })

  test('may not be sent back whole: each member that cannot be changed is named', async () => {
    const { url_token } = await api.create({ ...LIMITS, name: 'before' }, { token: ann })
    const whole = { ...(await api.retrieve(url_token)).body, ...(await api.list('active', ann))[0] }
    for (const [name, value] of Object.entries(whole)) {
      const isEditable = ['name', 'note', 'expire_after_days', 'expire_after_views'].includes(name)
      const { status, body } = await patch(url_token, { [name]: value, note: 'changed' })
      const isRefused = !isEditable && value !== null
      expect([name, status, name in body && status === 422]).toEqual([name, isRefused ? 422 : 200, isRefused])
    }
    const { status, body } = await patch(url_token, whole)
    const given = Object.entries(whole).filter(([, value]) => value !== null && value !== '')
    const editable = ['name', 'expire_after_days', 'expire_after_views']
    const fixed = given.map(([name]) => name).filter((name) => !editable.includes(name))
    expect([status, Object.keys(body).sort()]).toEqual([422, ['error', ...fixed].sort()])
  })

  test('expires by its new limits, and lists show them', async () => {
    const made = await api.create({ ...LIMITS, name: 'before' }, { token: ann })
    api.clock.advance(3 * 86_400_000 + 1)
    expect((await patch(made.url_token, { expire_after_days: 3 })).status).toBe(422)
    const { body } = await patch(made.url_token, {
      expire_after_days: 4,
      expire_after_views: 2,
      name: 'after',
    })
    expect(body.expires_at).toBe(new Date(Date.parse(made.created_at) + 4 * 86_400_000).toISOString())
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(made.updated_at))
    const [listed] = await api.list('active', ann)
    expect(listed).toEqual(body)
    expect((await api.retrieve(made.url_token)).body.views_remaining).toBe(1)
    expect((await api.retrieve(made.url_token)).body.views_remaining).toBe(0)
    expect((await api.retrieve(made.url_token)).body.expired).toBe(true)
    const other = await api.create(LIMITS, { token: ann })
    await patch(other.url_token, { expire_after_days: 1 })
    api.clock.advance(86_400_000)
    expect((await api.retrieve(other.url_token)).body).toMatchObject({ expired: true, payload: null })
  })

  test.each([
    ['application/x-www-form-urlencoded', 'push[name]=a+b&push%5Bexpire_after_views%5D=3'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="push[name]"\r\n\r\na b\r\n' +
        '--b\r\nContent-Disposition: form-data; name="push[expire_after_views]"\r\n\r\n3\r\n--b--\r\n',
    ],
  ])('a form in %s is read', async (type, body) => {
    const { url_token } = await api.create(LIMITS, { token: ann })
    const init = { method: 'PATCH', body, headers: { 'content-type': type }, token: ann }
    const answer = await api.call<PushBody>(`${PUSHES}/${url_token}`, init)
    expect(answer).toMatchObject({ status: 200, body: { name: 'a b', expire_after_views: 3 } })
  })

  test('a file in a form is refused', async () => {
    const { url_token } = await api.create(LIMITS, { token: ann })
    const body = new FormData()
    body.set('push[name]', 'x')
    body.set('push[files][]', new File(['new'], 'new.txt'))
    const { status, body: said } = await api.call(`${PUSHES}/${url_token}`, {
      method: 'PATCH',
      body,
      token: ann,
    })
    expect({ status, members: Object.keys(said) }).toEqual({ status: 422, members: ['error', 'files'] })
  })

  test('the same create again answers as the first time', async () => {
    const init = { token: ann, headers: { 'idempotency-key': '0123456789012345678901-edit' } }
    const first = await api.create({ ...LIMITS, name: 'first' }, init)
    await patch(first.url_token, { name: 'second', expire_after_days: 2, expire_after_views: 1 })
    expect(await api.create({ ...LIMITS, name: 'first' }, init)).toEqual(first)
  })

  test('when edits and views race, no more views are counted than the last edit allows', async () => {
    const { url_token } = await api.create({ expire_after_views: 50 }, { token: ann })
    const readers = Array.from({ length: 30 }, () => api.retrieve(url_token))
    const edits = [20, 10].map((views) => patch(url_token, { expire_after_views: views }))
    const answers = await Promise.all([...readers, ...edits])
    const views = answers.slice(0, 30).filter(({ body }) => typeof body.payload === 'string').length
    const statuses = answers.slice(30).map(({ status }) => status)
    if (statuses.includes(200)) expect(views).toBeLessThanOrEqual(30)
    const { body } = await patch(url_token, {})
    expect(body.expire_after_views - body.views_remaining).toBe(views)
  })
})
