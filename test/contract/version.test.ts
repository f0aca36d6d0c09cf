import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'

let api: Api

beforeAll(async () => {
  api = await startApi()
})

afterAll(() => api.close())

test('the version has the API version, the edition, the features and the limits', async () => {
  const { body } = await api.call('/api/v2/version')
  expect(body).toEqual({
    application_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    api_version: '2.1',
    edition: 'oss',
    features: {
      anonymous_access: true,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: false,
        file_attachments: { enabled: true, requires_authentication: true },
        url_pushes: { enabled: true },
        qr_code_pushes: { enabled: true },
      },
      requests: { enabled: false },
    },
    extensions: {
      ...{ requests: true, events: true, webhooks: false, mail: false, end_to_end: 'offered' },
      sign_in: ['password'],
      policies: {},
    },
    limits: {
      payload_bytes: 2 ** 20,
      file_bytes: 4 * 2 ** 30,
      files: 10,
      expire_after_days: { min: 1, max: 90, default: 7 },
      expire_after_views: { min: 1, max: 100, default: 5 },
    },
  })
})

test('the application version is not below that of the first release', async () => {
  const { body } = await api.call('/api/v2/version')
  expect(Bun.semver.satisfies(String(body.application_version), '>=3.0.0')).toBe(true)
})

test('the features and limits follow the settings of the instance', async () => {
  const other = await startApi({
    flags: {
      'anonymous-access': 'false',
      'url-pushes': 'false',
      'qr-pushes': 'false',
      'max-payload-bytes': '2000',
      'max-file-bytes': '3000',
      'max-files': '4',
      'expire-after-days-min': '2',
      'expire-after-days-default': '3',
      'expire-after-days-max': '4',
      'expire-after-views-min': '5',
      'expire-after-views-default': '6',
      'expire-after-views-max': '7',
      'webhook-hosts': 'ntfy.sh',
      'smtp-url': 'smtps://127.0.0.1:1',
      'mail-from': 'once@example.org',
      'base-url': 'http://localhost',
    },
  })
  try {
    expect((await other.call('/api/v2/version')).body).toMatchObject({
      features: {
        anonymous_access: false,
        pushes: {
          email_auto_dispatch: true,
          ...{ url_pushes: { enabled: false }, qr_code_pushes: { enabled: false } },
        },
      },
      extensions: { webhooks: true, mail: true },
      limits: {
        payload_bytes: 2000,
        file_bytes: 3000,
        files: 4,
        expire_after_days: { min: 2, max: 4, default: 3 },
        expire_after_views: { min: 5, max: 7, default: 6 },
      },
    })
  } finally {
    await other.close()
  }
})
