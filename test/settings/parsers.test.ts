import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/time.ts'
import {
  baseUrl,
  duration,
  host,
  network,
  type OperatingSystem,
  type Parser,
  path,
  port,
  size,
  truth,
  wholeNumber,
} from '../../src/settings/parsers.ts'
import { defaultDataDir, type Setting, variableOf } from '../../src/settings/setting.ts'
import { type Config, settings } from '../../src/settings/table.ts'

const linux: OperatingSystem = { env: {}, platform: 'linux', home: '/home/ann', cwd: '/srv' }
const windows: OperatingSystem = { env: {}, platform: 'win32', home: 'C:\\Users\\ann', cwd: 'D:\\work' }
const rows: Setting[] = Object.values(settings)

function read<T>(parse: Parser<T>, text: string, os = linux): T | undefined {
  const parsed = parse(text, os)
  return 'value' in parsed ? parsed.value : undefined
}

describe('the table of settings', () => {
  test('names every flag and every variable once', () => {
    const names = rows.flatMap((row) => [variableOf(row), ...(row.file ? [`${variableOf(row)}_FILE`] : [])])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('ONCEBOX_EXPIRE_AFTER_DAYS_DEFAULT')
    expect(names).toContain('ONCEBOX_TRUSTED_PROXY')
    expect(names).toContain('ONCEBOX_S3_ACCESS_KEY_ID_FILE')
  })

  test.each(rows)('has a default for --$flag that its own parser accepts', (row) => {
    const text = typeof row.default === 'function' ? row.default(linux) : row.default
    if (text !== null) expect(row.parse(text, linux)).toHaveProperty('value')
  })

  test('reads a *_FILE only for paths and secrets', () => {
    expect(rows.filter((row) => row.file || row.secret).map((row) => row.flag)).toEqual([
      'data-dir',
      'key-file',
      's3-access-key-id',
      's3-secret-access-key',
      'database-url',
      'database-password',
      'oidc-client-secret',
      'smtp-url',
    ])
  })

  test('determines the types of the configuration', () => {
    const some: Pick<Config, 'dataDir' | 'baseUrl' | 'trustedProxies' | 'logFormat' | 'files' | 'port'> = {
      dataDir: '/data',
      baseUrl: null,
      trustedProxies: ['::1'],
      logFormat: 'json',
      files: true,
      port: 0,
    }
    // @ts-expect-error a setting with a default is never null
    const none: Config['host'] = null
    expect<unknown>([some.dataDir, none]).toEqual(['/data', null])
  })
})

describe('the default data folder', () => {
  const mac: OperatingSystem = { ...linux, platform: 'darwin', home: '/Users/ann' }
  test.each<[string, OperatingSystem, string]>([
    ['Linux', linux, '/home/ann/.local/share/oncebox'],
    ['XDG_DATA_HOME', { ...linux, env: { XDG_DATA_HOME: '/mnt/data' } }, '/mnt/data/oncebox'],
    [
      'a relative XDG_DATA_HOME',
      { ...linux, env: { XDG_DATA_HOME: 'data' } },
      '/home/ann/.local/share/oncebox',
    ],
    ['macOS', mac, '/Users/ann/Library/Application Support/Oncebox'],
    ['Windows', { ...windows, env: { LOCALAPPDATA: 'E:\\Local' } }, 'E:\\Local\\Oncebox'],
    ['Windows without LOCALAPPDATA', windows, 'C:\\Users\\ann\\AppData\\Local\\Oncebox'],
  ])('follows %s', (_, os, folder) => {
    expect(defaultDataDir(os)).toBe(folder)
  })
})

describe('sizes', () => {
  test.each([
    ['4096', 4096],
    ['0', 0],
    ['10b', 10],
    ['512KiB', 512 * 1024],
    ['512k', 512 * 1024],
    ['1MiB', 2 ** 20],
    ['1 mib', 2 ** 20],
    ['3G', 3 * 2 ** 30],
    ['2gb', 2e9],
    ['5Kb', 5000],
    ['1TiB', 2 ** 40],
  ])('%s is %d bytes', (text, bytes) => {
    expect(read(size('0', '1TiB'), text)).toBe(bytes)
  })

  test.each(['', ' ', '-1', '1.5GiB', '1e3', '0x10', 'MiB', '1XB', '1 constructor', '2TiB', '٣'])(
    'refuses %p',
    (text) => {
      expect(read(size('0', '1TiB'), text)).toBeUndefined()
    },
  )
})

describe('durations', () => {
  test.each([
    ['60s', 60 * SECOND],
    ['15m', 15 * MINUTE],
    ['1h', HOUR],
    ['365d', 365 * DAY],
    ['2 D', 2 * DAY],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(read(duration('1s', '365d'), text)).toBe(milliseconds)
  })

  test.each(['60', '', '0s', '366d', '1w', '1h30m', '-1s'])('refuses %p and says what is allowed', (text) => {
    expect(duration('1s', '365d')(text)).toEqual({
      problem: 'must be a duration (such as 60s, 15m, 1h or 365d) from 1s to 365d',
    })
  })
})

test('a whole number is accepted inside its range and refused outside', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1000, max: 100_000 }), (number) => {
      expect(read(wholeNumber('1', '65535'), String(number))).toBe(
        number >= 1 && number <= 65_535 ? number : undefined,
      )
    }),
  )
})

test('no text is ever read as a number out of range', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const value = read(wholeNumber('1', '90'), text) ?? 1
      expect(Number.isInteger(value) && value >= 1 && value <= 90).toBeTrue()
    }),
  )
})

test.each([
  ['true', true],
  ['YES', true],
  ['on', true],
  ['1', true],
  ['False', false],
  ['no', false],
  [' off ', false],
  ['0', false],
  ['', undefined],
  ['2', undefined],
  ['ja', undefined],
])('the truth of %p is %p', (text, value) => {
  expect(read(truth, text)).toBe(value!)
})

test.each([
  ['https://once.example', 'https://once.example'],
  ['https://once.example/', 'https://once.example'],
  ['HTTP://Once.Example:8080/box//', 'http://once.example:8080/box'],
  ['http://[::1]:5100', 'http://[::1]:5100'],
  ['once.example', undefined],
  ['https:once.example', undefined],
  ['ftp://once.example', undefined],
  ['https://', undefined],
  ['https://ann:secret@once.example', undefined],
  ['https://once.example/?a=1', undefined],
  ['https://once.example/#', undefined],
])('the base URL %p is read as %p', (text, value) => {
  expect(read(baseUrl, text)).toBe(value!)
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::', '::'],
  ['[::1]', '::1'],
  ['localhost', 'localhost'],
  ['box.office.example', 'box.office.example'],
  ['300.1.1.1', undefined],
  ['127.0.0.1:5100', undefined],
  ['http://localhost', undefined],
  ['', undefined],
])('the host %p is read as %p', (text, value) => {
  expect(read(host, text)).toBe(value!)
})

test.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['192.168.1.7', '192.168.1.7'],
  ['fd00::/8', 'fd00::/8'],
  [' ::1 ', '::1'],
  ['10', undefined],
  ['0x7f.1', undefined],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/8/8', undefined],
  ['10.0.0.0/', undefined],
  ['proxy.local', undefined],
])('the trusted proxy %p is read as %p', (text, value) => {
  expect(read(network, text)).toBe(value!)
})

test.each<[string, OperatingSystem, string | undefined]>([
  ['/srv/box', linux, '/srv/box'],
  ['box/../data', linux, '/srv/data'],
  ['box', windows, 'D:\\work\\box'],
  ['~/box', linux, undefined],
  ['~box', linux, '/srv/~box'],
  ['', linux, undefined],
  ['a\0b', linux, undefined],
])('the path %p becomes absolute', (text, os, value) => {
  expect(read(path, text, os)).toBe(value!)
})

test('a port injected by Kubernetes is refused with the remedy', () => {
  expect(port('tcp://10.0.0.1:5100')).toEqual({
    problem: expect.stringMatching(
      /^must be a whole number from 0 to 65535 \(Kubernetes .*enableServiceLinks/,
    ),
  })
  expect(read(port, '0')).toBe(0)
})
