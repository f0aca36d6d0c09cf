import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readConfig, readSettings, unknownVariables } from '../../src/settings/fold.ts'
import {
  type Environment,
  type OperatingSystem,
  oneOf,
  path,
  wholeNumber,
} from '../../src/settings/parsers.ts'
import type { GivenFlags, SettingsTable } from '../../src/settings/setting.ts'
import { settings } from '../../src/settings/table.ts'

type Given = { flags?: GivenFlags; env?: Environment; files?: Record<string, string> }

function sources({ flags = {}, env = {}, files = {} }: Given) {
  const os: OperatingSystem = { env, platform: 'linux', home: '/home/ann', cwd: '/srv' }
  return { flags, os, readFile: (name: string) => readFrom(files, name) }
}

function readFrom(files: Record<string, string>, name: string): string {
  const text = files[name]
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  return text
}

function problemsOf(given: Given): string[] {
  return readConfig(sources(given)).problems ?? []
}

test('if nothing is given, every setting has its default', () => {
  const { config } = readConfig(sources({}))
  expect(config).toEqual({
    dataDir: '/home/ann/.local/share/oncebox',
    host: 'localhost',
    port: 5100,
    baseUrl: null,
    receiveListen: null,
    auditLog: null,
    receiveUrl: null,
    keyFile: null,
    filesUrl: null,
    s3AccessKeyId: null,
    s3SecretAccessKey: null,
    databaseUrl: null,
    databasePassword: null,
    databaseConnections: 8,
    lan: false,
    tls: 'off',
    tlsCert: null,
    tlsKey: null,
    tlsAuthorityKey: null,
    httpPort: null,
    mdns: null,
    anonymousAccess: true,
    signups: false,
    showSender: false,
    endToEnd: 'offered',
    files: true,
    urlPushes: true,
    qrPushes: true,
    requireSecondFactor: false,
    signupDomains: [],
    requirePassphrase: false,
    maxViewsAnonymous: null,
    oidcIssuer: null,
    oidcClientId: null,
    oidcClientSecret: null,
    oidcCa: null,
    oidcName: null,
    oidcSignup: 'no',
    oidcAdminGroup: null,
    authHeader: null,
    authHeaderSecretFile: null,
    passwordSignIn: 'yes',
    breakGlass: null,
    sessionHours: 12,
    tokenPauseDays: 90,
    brandName: 'Oncebox',
    brandLogo: null,
    brandColor: null,
    contact: null,
    notice: null,
    expireAfterDaysDefault: 7,
    expireAfterDaysMin: 1,
    expireAfterDaysMax: 90,
    expireAfterViewsDefault: 5,
    expireAfterViewsMin: 1,
    expireAfterViewsMax: 100,
    retrievalStepDefault: true,
    deletableByViewerDefault: true,
    purgeAfter: 365 * 24 * 60 * 60 * 1000,
    backupDir: null,
    backupEvery: 24 * 60 * 60 * 1000,
    backupKeep: 7,
    backupRecipients: [],
    smtpUrl: null,
    mailFrom: null,
    maxPayloadBytes: 1024 * 1024,
    maxFileBytes: 4 * 1024 ** 3,
    maxFiles: 10,
    minFreeSpace: 512 * 1024 ** 2,
    maxLivePushesPerAddress: 1000,
    maxLiveBytesPerAddress: 100 * 1024 * 1024,
    maxPassphraseAttempts: 100,
    sweepEvery: 60_000,
    trustedProxies: [],
    corsOrigins: [],
    webhookHosts: [],
    acceptClock: false,
    acceptMove: false,
    acceptDatabase: false,
    noOpen: false,
    logFormat: 'text',
    logFile: null,
    metricsListen: null,
    maxClockGap: 7 * 24 * 60 * 60 * 1000,
  })
})

describe('a setting comes from', () => {
  const folder = (given: Given) => {
    const reading = readConfig(sources(given))
    const entry = reading.entries?.find(({ setting }) => setting === settings.dataDir)
    return [reading.config?.dataDir, entry?.from]
  }
  const files = { '/run/folder': '/from/file\n' }
  const env = { ONCEBOX_DATA_DIR: '/from/env', ONCEBOX_DATA_DIR_FILE: '/run/folder' }

  test('first from its flag', () => {
    expect(folder({ flags: { 'data-dir': ['flag'] }, env, files })).toEqual(['/srv/flag', '--data-dir'])
  })
  test('next from its variable', () => {
    expect(folder({ env, files })).toEqual(['/from/env', 'ONCEBOX_DATA_DIR'])
  })
  test('the file its _FILE variable names, without the newline at the end', () => {
    expect(folder({ env: { ...env, ONCEBOX_DATA_DIR: '' }, files })).toEqual([
      '/from/file',
      'ONCEBOX_DATA_DIR_FILE',
    ])
  })
  test('at last from its default', () => {
    expect(folder({ env: { ONCEBOX_DATA_DIR: '', ONCEBOX_DATA_DIR_FILE: '' } })).toEqual([
      '/home/ann/.local/share/oncebox',
      'default',
    ])
  })
})

test('a bad variable is ignored when a flag takes precedence', () => {
  const env = { ONCEBOX_PORT: 'tcp://10.0.0.1:5100' }
  expect(readConfig(sources({ flags: { port: ['0'] }, env })).config?.port).toBe(0)
})

test('the last value of a repeated flag wins', () => {
  expect(readConfig(sources({ flags: { port: ['1', '2'] } })).config?.port).toBe(2)
})

test('trusted proxies come from repeated flags, or separated by commas', () => {
  const flags = { 'trusted-proxy': ['10.0.0.0/8,::1', '192.168.0.1'] }
  const env = { ONCEBOX_TRUSTED_PROXY: '10.0.0.0/8, ::1' }
  expect(readConfig(sources({ flags })).config?.trustedProxies).toEqual(['10.0.0.0/8', '::1', '192.168.0.1'])
  expect(readConfig(sources({ env })).config?.trustedProxies).toEqual(['10.0.0.0/8', '::1'])
})

test('all problems are reported together, each with its name, its value and what is allowed', () => {
  const given: Given = {
    flags: { port: ['99999'], host: [''], 'trusted-proxy': ['10.0.0.0/8', 'proxy', '10.0.0.0/99'] },
    env: {
      ONCEBOX_SWEEP_EVERY: '60',
      ONCEBOX_FILES: 'perhaps',
      ONCEBOX_KEY_FILE_FILE: '/run/none',
      ONCEBOX_LOG_FORMAT: 'xml\u001b[2J',
    },
  }
  expect(problemsOf(given)).toEqual([
    '--host: a value is missing, it must be an address or a host name without a port, such as 127.0.0.1, :: or localhost',
    '--port "99999": must be a whole number from 0 to 65535',
    'ONCEBOX_KEY_FILE_FILE "/run/none": must name a readable file (there is no such file or folder)',
    'ONCEBOX_FILES "perhaps": must be true or false (or 1, 0, yes, no, on, off)',
    'ONCEBOX_SWEEP_EVERY "60": must be a duration (such as 60s, 15m, 1h or 365d) from 1s to 1h',
    '--trusted-proxy "proxy": must be an address such as 10.0.0.1, a network such as 10.0.0.0/8, or unix for the socket of --host',
    '--trusted-proxy "10.0.0.0/99": must be an address such as 10.0.0.1, a network such as 10.0.0.0/8, or unix for the socket of --host',
    'ONCEBOX_LOG_FORMAT "xml\\u001b[2J": must be text or json',
  ])
})

describe('limits of days and of views', () => {
  test('must be in order, and the message names the settings and their values', () => {
    const flags = { 'expire-after-days-max': ['5'], 'expire-after-views-min': ['10'] }
    expect(problemsOf({ flags, env: { ONCEBOX_EXPIRE_AFTER_VIEWS_MAX: '9' } })).toEqual([
      '--expire-after-days-default is 7: it must be from --expire-after-days-min (1) to --expire-after-days-max (5)',
      '--expire-after-views-default is 5: it must be from --expire-after-views-min (10) to --expire-after-views-max (9)',
    ])
  })

  test('are accepted exactly when they are in order', () => {
    const views = fc.integer({ min: 1, max: 20 })
    fc.assert(
      fc.property(views, views, views, (min, preset, max) => {
        const flags = {
          'expire-after-views-min': [`${min}`],
          'expire-after-views-default': [`${preset}`],
          'expire-after-views-max': [`${max}`],
        }
        expect(problemsOf({ flags }).length === 0).toBe(min <= preset && preset <= max)
      }),
    )
  })
})

test('contradictions are reported together, once every single value is valid', () => {
  const flags = { tls: ['files'], 'files-url': ['s3://box?region=a'] }
  expect(problemsOf({ flags })).toEqual([
    '--tls files needs both --tls-cert and --tls-key',
    expect.stringContaining('--files-url needs --key-file'),
    expect.stringContaining('--files-url needs the access key'),
  ])
  expect(problemsOf({ flags: { ...flags, port: ['x'] } })).toEqual([expect.stringContaining('--port "x"')])
})

test('unknown variables with our prefix are warned about, without their values', () => {
  const env = {
    ONCEBOX_PROT: '1',
    ONCEBOX_PORT: '0',
    ONCEBOX_PORT_FILE: '/x',
    ONCEBOX_DATA_DIR_FILE: '',
    ONCEBOX_TSL_CERT: '/x',
    ONCEBOX_SERVICE_HOST: '10.0.0.1',
    oncebox_base_url: 'https://once.example',
    HOME: '/',
  }
  expect(unknownVariables(settings, env)).toEqual([
    'ONCEBOX_PORT_FILE is not a setting of Oncebox and is ignored',
    'ONCEBOX_PROT is not a setting of Oncebox and is ignored: did you mean ONCEBOX_PORT?',
    'ONCEBOX_SERVICE_HOST is not a setting of Oncebox and is ignored',
    'ONCEBOX_TSL_CERT is not a setting of Oncebox and is ignored: did you mean ONCEBOX_TLS_CERT?',
    'oncebox_base_url is not a setting of Oncebox and is ignored: did you mean ONCEBOX_BASE_URL?',
  ])
})

test('warns of a file that is not read because the variable with the value is set', () => {
  const env = { ONCEBOX_DATABASE_PASSWORD: 's3cret', ONCEBOX_DATABASE_PASSWORD_FILE: '/run/password' }
  expect(readConfig(sources({ env })).warnings).toEqual([
    'ONCEBOX_DATABASE_PASSWORD_FILE is not read, because ONCEBOX_DATABASE_PASSWORD is set as well',
  ])
})

describe('a secret setting', () => {
  const row = { group: 'Test', placeholder: 'word', help: 'A secret' }
  const table = {
    word: { ...row, flag: 'word', parse: oneOf('sesame', 'open'), default: null, secret: true, file: true },
    number: { ...row, flag: 'number', parse: wholeNumber('1', '9'), default: '1', secret: true },
    folder: { ...row, flag: 'folder', parse: path, default: null },
  } as const satisfies SettingsTable

  test('never shows its value in the listing', () => {
    const { entries, config } = readSettings(table, sources({ env: { ONCEBOX_WORD: 'sesame' } }))
    expect(config).toEqual({ word: 'sesame', number: 1, folder: null })
    expect(entries?.map(({ text, from }) => [text, from])).toEqual([
      ['(hidden)', 'ONCEBOX_WORD'],
      ['1', 'default'],
      ['none', 'default'],
    ])
  })

  test('never shows its value in a problem', () => {
    const files = { '/run/word': 'hunter2' }
    const given = { flags: { number: ['4711'] }, env: { ONCEBOX_WORD_FILE: '/run/word' }, files }
    expect(readSettings(table, sources(given)).problems).toEqual([
      'ONCEBOX_WORD_FILE (hidden): must be sesame or open',
      '--number (hidden): must be a whole number from 1 to 9',
    ])
  })
})

describe('--lan', () => {
  const lan = ['true']

  test('changes the defaults of network settings, and is shown as their source', () => {
    const { config, entries } = readConfig(sources({ flags: { lan } }))
    expect(config).toMatchObject({
      host: '0.0.0.0',
      tls: 'auto',
      mdns: 'oncebox',
      httpPort: 5180,
      port: 5100,
    })
    expect(entries?.find(({ setting }) => setting.flag === 'tls')).toMatchObject({
      from: '--lan',
      text: 'auto',
    })
  })

  test('does not override a flag or a variable', () => {
    const given = {
      flags: { lan, mdns: ['off'] },
      env: { ONCEBOX_HTTP_PORT: 'off', ONCEBOX_HOST: '192.0.2.1' },
    }
    const { config, entries } = readConfig(sources(given))
    expect(config).toMatchObject({ host: '192.0.2.1', mdns: null, httpPort: null, tls: 'auto' })
    expect(entries?.find(({ setting }) => setting.flag === 'mdns')?.text).toBe('off')
  })

  test('may come from its variable', () => {
    expect(readConfig(sources({ env: { ONCEBOX_LAN: 'true' } })).config?.tls).toBe('auto')
  })
})

test.each([
  [{ tls: ['files'], 'tls-cert': ['c.pem'] }, '--tls files needs both'],
  [{ 'tls-cert': ['c.pem'], 'tls-key': ['k.pem'] }, 'need --tls files'],
  [{ 'tls-authority-key': ['a.pem'] }, 'needs --tls auto'],
  [{ 'http-port': ['80'] }, '--http-port needs --tls'],
  [{ tls: ['auto'], 'http-port': ['5100'] }, 'another port'],
  [{ tls: ['auto'], 'base-url': ['http://nas'] }, 'must start with https://'],
  [{ mdns: ['box'] }, 'cannot reach it'],
  [{ 'metrics-listen': ['127.0.0.1:5100'] }, 'another port'],
  [{ host: ['192.0.2.1'], 'metrics-listen': ['[::]:5100'] }, 'another port'],
])('%j contradicts itself', (flags: GivenFlags, sentence) => {
  expect(problemsOf({ flags })).toEqual([expect.stringContaining(sentence)])
})

test.each([
  { host: ['192.0.2.1'], 'metrics-listen': ['127.0.0.1:5100'] },
  { 'metrics-listen': ['127.0.0.1:9100'] },
])('%j is no contradiction', (flags: GivenFlags) => {
  expect(problemsOf({ flags })).toEqual([])
})
