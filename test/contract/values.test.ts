import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi, type Wire } from '../support/api.ts'

let api: Api

/** Defaults that differ from each other, so that a missing value cannot be true or false everywhere. */
const flags = { 'retrieval-step-default': 'true', 'deletable-by-viewer-default': 'false' }

beforeAll(async () => {
  api = await startApi({ flags })
})

afterAll(() => api.close())

const post = (push: Wire) => api.post({ payload: 'a', ...push })

async function expectRefused(push: Wire, ...fields: string[]): Promise<void> {
  const before = api.entries()
  const { status, body } = await post(push)
  expect([status, Object.keys(body).sort()]).toEqual([422, ['error', ...fields].sort()])
  for (const field of fields) {
    expect((body as unknown as Wire)[field]).toEqual([expect.stringMatching(/\S/)])
  }
  expect(api.entries()).toEqual(before)
}

const cased = (word: string) => [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`]
const spelled = (...words: string[]) =>
  words.flatMap(cased).flatMap((word) => [word, ` ${word} `, `\t${word}\n`])

describe('a boolean', () => {
  test.each([true, 1, ...spelled('true', '1', 'on', 'yes', 'checked')])('is true as %j', async (value) => {
    const { status, body } = await post({ deletable_by_viewer: value, retrieval_step: value })
    expect([status, body.deletable_by_viewer, body.retrieval_step]).toEqual([201, true, true])
  })

  test.each([false, 0, ...spelled('false', '0', 'off', 'no')])('is false as %j', async (value) => {
    const { status, body } = await post({ deletable_by_viewer: value, retrieval_step: value })
    expect([status, body.deletable_by_viewer, body.retrieval_step]).toEqual([201, false, false])
  })

  test.each(['', null, undefined])('is missing as %j', async (value) => {
    const { status, body } = await post({ deletable_by_viewer: value, retrieval_step: value })
    expect([status, body.deletable_by_viewer, body.retrieval_step]).toEqual([201, false, true])
  })

  test.each(
    ['maybe', 'truee', 'y', 't', '10', '2', 2, -1, 0.5, [], {}, ['true'], [1], { true: true }].map(
      (value) => ({ value }),
    ),
  )('is refused as $value', async ({ value }) => {
    await expectRefused(
      { deletable_by_viewer: value, retrieval_step: value },
      'deletable_by_viewer',
      'retrieval_step',
    )
  })
})

describe('an integer', () => {
  test.each([7, '7', 7.0, '07'])('is 7 as %j', async (value) => {
    const { status, body } = await post({ expire_after_days: value, expire_after_views: value })
    expect([status, body.expire_after_days, body.expire_after_views]).toEqual([201, 7, 7])
  })

  test.each(['', null, undefined])('is missing as %j', async (value) => {
    const { status, body } = await post({
      expire_after_days: value,
      expire_after_views: value,
      expire_after_duration: value,
    })
    expect([status, body.expire_after_days, body.expire_after_views]).toEqual([201, 7, 5])
  })

  const refused = ['seven', '7.5', 7.5, '0x7', '1e1', '7 days', true, false, [7], [], {}, '٧']
  test.each(refused.map((value) => ({ value })))('is refused as $value', async ({ value }) => {
    await expectRefused(
      { expire_after_days: value, expire_after_views: value, expire_after_duration: value },
      'expire_after_days',
      'expire_after_views',
      'expire_after_duration',
    )
  })
})

describe('a range', () => {
  test.each([1, 90])('accepts %d days', async (days) => {
    expect((await post({ expire_after_days: days })).body.expire_after_days).toBe(days)
  })

  test.each([1, 100])('accepts %d views', async (views) => {
    expect((await post({ expire_after_views: views })).body.expire_after_views).toBe(views)
  })

  test.each([0, -1, 91, '0', '-7', '91', 1e21, '99999999999999999999', Number.MAX_SAFE_INTEGER])(
    'refuses %p days',
    (days) => expectRefused({ expire_after_days: days }, 'expire_after_days'),
  )

  test.each([0, -1, 101, '0', '101', 1e300])('refuses %p views', (views) =>
    expectRefused({ expire_after_views: views }, 'expire_after_views'),
  )

  test.each([-1, 18, '18'])('refuses %p as a duration', (index) =>
    expectRefused({ expire_after_duration: index }, 'expire_after_duration'),
  )

  test('and its default come from the settings of the instance', async () => {
    const strict = await startApi({
      flags: {
        'expire-after-days-min': '3',
        'expire-after-days-default': '4',
        'expire-after-days-max': '5',
        'expire-after-views-min': '2',
        'expire-after-views-default': '2',
        'expire-after-views-max': '3',
      },
    })
    try {
      const given = await strict.create()
      expect([given.expire_after_days, given.expire_after_views]).toEqual([4, 2])
      for (const days of [2, 6]) {
        expect(Object.keys((await strict.post({ payload: 'a', expire_after_days: days })).body)).toContain(
          'expire_after_days',
        )
      }
      for (const views of [1, 4]) {
        expect((await strict.post({ payload: 'a', expire_after_views: views })).status).toBe(422)
      }
    } finally {
      await strict.close()
    }
  })
})

describe('members', () => {
  test('that are unknown are ignored', async () => {
    const push = { account_id: 7, workspace_id: 'x', url_token: 'mine', expired: true, id: 1, __proto__x: {} }
    const { status, body } = await post(push)
    expect([status, body.expired, Object.keys(body)]).toEqual([
      201,
      false,
      expect.not.arrayContaining(['id']),
    ])
    expect(body.url_token).not.toBe('mine')
  })

  test('that are optional may be empty or null', async () => {
    for (const value of ['', null]) {
      const names = [
        'kind',
        'passphrase',
        'name',
        'note',
        'files',
        'notify_emails_to',
        'notify_emails_to_locale',
      ]
      const { status, body } = await post(Object.fromEntries(names.map((name) => [name, value])))
      expect([status, body.kind, body.passphrase_required, body.name, body.note]).toEqual([
        201,
        'text',
        false,
        '',
        '',
      ])
    }
  })

  test.each([{ notify_emails_to: 'a@b.example' }, { notify_emails_to: ['a@b.example'] }])(
    'that send mail are refused without a mail server: %j',
    async (push) => {
      const { status, body } = await post(push)
      expect([status, (body as unknown as Wire).notify_emails_to]).toEqual([422, ['are not available']])
    },
  )

  test('that set the language of mail are refused', async () => {
    const { status, body } = await post({ notify_emails_to_locale: 'de' })
    expect([status, body as unknown]).toEqual([
      422,
      { error: 'Notify emails to locale is not available', notify_emails_to_locale: ['is not available'] },
    ])
  })
})
