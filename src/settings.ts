// THE table of settings: flag, environment name, parser, default, and one line of documentation for each.

import { posix, win32 } from 'node:path'
import {
  baseUrl,
  duration,
  host,
  network,
  oneOf,
  type Parser,
  type Place,
  path,
  port,
  size,
  truth,
  wholeNumber,
} from './setting-parsers.ts'

export type Setting = {
  flag: string
  /** Heading in help and README. */
  group: string
  /** Stands for the value in help. */
  placeholder: string
  parse: Parser<unknown>
  /** As a person would type it; null: nothing. */
  default: string | null | ((place: Place) => string)
  /** The default in words, where it depends on the place or is null. */
  defaultWords?: string
  /** What the flag means without a value; without this, a value is required. */
  bare?: string
  /** The flag repeats and the variable is separated by commas; `parse` reads one item. */
  list?: true
  /** `ONCEBOX_…_FILE` names a file that holds the value. */
  file?: true
  /** Never shown. */
  secret?: true
  help: string
}

export type Table = Readonly<Record<string, Setting>>

type Item<S extends Setting> = S['parse'] extends Parser<infer T> ? T : never

export type Value<S extends Setting> = S extends { list: true }
  ? Item<S>[]
  : S['default'] extends null
    ? Item<S> | null
    : Item<S>

export type Values<T extends Table> = { [K in keyof T]: Value<T[K]> }

/** The variable of a setting; its file, where one is read, has `_FILE` after it. */
export function variableOf(setting: Setting): string {
  return `ONCEBOX_${setting.flag.toUpperCase().replaceAll('-', '_')}`
}

/** The default as help and README show it. */
export function defaultText(setting: Setting): string {
  return setting.defaultWords ?? (typeof setting.default === 'string' ? setting.default : 'none')
}

/** The folder where a person's programs keep their data, as each platform has it. */
export function defaultDataDir({ env, platform, home }: Place): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local'), 'Oncebox')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Oncebox')
  const dataHome = env.XDG_DATA_HOME ?? ''
  // The XDG specification tells to ignore a relative one.
  return posix.join(posix.isAbsolute(dataHome) ? dataHome : posix.join(home, '.local', 'share'), 'oncebox')
}

const PLACE = 'Where it keeps and serves'
const PUSHES = 'What may be pushed'
const EXPIRY = 'When pushes expire'
const LIMITS = 'Limits'
const RUNNING = 'Running'

const on = { placeholder: 'true|false', parse: truth, bare: 'true', default: 'true' }
const off = { ...on, default: 'false' }
const days = { group: EXPIRY, placeholder: 'days', parse: wholeNumber('1', '3650') }
const views = { group: EXPIRY, placeholder: 'views', parse: wholeNumber('1', '1000000') }

export const settings = {
  dataDir: {
    flag: 'data-dir',
    group: PLACE,
    placeholder: 'folder',
    parse: path,
    default: defaultDataDir,
    defaultWords: "the platform's folder for a user's data",
    file: true,
    help: 'Folder of the database, the files and the instance key',
  },
  host: {
    flag: 'host',
    group: PLACE,
    placeholder: 'address',
    parse: host,
    default: 'localhost',
    help: 'Address to listen on; localhost is 127.0.0.1 and ::1, 0.0.0.0 or :: every network the machine is in',
  },
  port: {
    flag: 'port',
    group: PLACE,
    placeholder: 'number',
    parse: port,
    default: '5100',
    help: 'Port to listen on; 0 picks a free one',
  },
  baseUrl: {
    flag: 'base-url',
    group: PLACE,
    placeholder: 'url',
    parse: baseUrl,
    default: null,
    defaultWords: 'what the request was sent to',
    help: 'What links start with, such as https://once.example; a path is allowed',
  },
  keyFile: {
    flag: 'key-file',
    group: PLACE,
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'instance.key in the data folder',
    file: true,
    help: 'File of the instance key, to keep it away from the data',
  },
  anonymousAccess: {
    flag: 'anonymous-access',
    group: PUSHES,
    ...on,
    help: 'Whether people without an account may use the API and create pushes; links open for everybody',
  },
  signups: {
    flag: 'signups',
    group: PUSHES,
    ...off,
    help: 'Whether anybody may make an account; otherwise administrators invite',
  },
  files: {
    flag: 'files',
    group: PUSHES,
    ...on,
    help: 'Whether files may be pushed; it takes an account, always',
  },
  urlPushes: {
    flag: 'url-pushes',
    group: PUSHES,
    ...on,
    help: 'Whether links may be pushed',
  },
  qrPushes: {
    flag: 'qr-pushes',
    group: PUSHES,
    ...on,
    help: 'Whether QR codes may be pushed',
  },
  expireAfterDaysDefault: {
    flag: 'expire-after-days-default',
    ...days,
    default: '7',
    help: 'Days after which a push expires when its creator does not say',
  },
  expireAfterDaysMin: {
    flag: 'expire-after-days-min',
    ...days,
    default: '1',
    help: 'Fewest days a creator may choose',
  },
  expireAfterDaysMax: {
    flag: 'expire-after-days-max',
    ...days,
    default: '90',
    help: 'Most days a creator may choose',
  },
  expireAfterViewsDefault: {
    flag: 'expire-after-views-default',
    ...views,
    default: '5',
    help: 'Views after which a push expires when its creator does not say',
  },
  expireAfterViewsMin: {
    flag: 'expire-after-views-min',
    ...views,
    default: '1',
    help: 'Fewest views a creator may choose',
  },
  expireAfterViewsMax: {
    flag: 'expire-after-views-max',
    ...views,
    default: '100',
    help: 'Most views a creator may choose',
  },
  retrievalStepDefault: {
    flag: 'retrieval-step-default',
    group: EXPIRY,
    ...on,
    help: 'Whether a link asks for a click before it reveals, when its creator does not say',
  },
  deletableByViewerDefault: {
    flag: 'deletable-by-viewer-default',
    group: EXPIRY,
    ...on,
    help: 'Whether viewers may delete a push, when its creator does not say',
  },
  purgeAfter: {
    flag: 'purge-after',
    group: EXPIRY,
    placeholder: 'duration',
    parse: duration('1d', '36500d'),
    default: '365d',
    help: 'How long the audit log of an expired push is kept for its owner',
  },
  maxPayloadBytes: {
    flag: 'max-payload-bytes',
    group: LIMITS,
    placeholder: 'size',
    parse: size('1', '16MiB'),
    default: '1MiB',
    help: 'Largest text; K and KiB, M and MiB … are powers of 1024, KB, MB … of 1000',
  },
  maxFileBytes: {
    flag: 'max-file-bytes',
    group: LIMITS,
    placeholder: 'size',
    parse: size('1', '1TiB'),
    default: '4GiB',
    help: 'Largest file',
  },
  maxFiles: {
    flag: 'max-files',
    group: LIMITS,
    placeholder: 'number',
    parse: wholeNumber('1', '1000'),
    default: '10',
    help: 'Most files in one push',
  },
  minFreeSpace: {
    flag: 'min-free-space',
    group: LIMITS,
    placeholder: 'size',
    parse: size('0', '1024TiB'),
    default: '512MiB',
    help: 'With less than this left on the disk, creating is refused; 0 never refuses',
  },
  sweepEvery: {
    flag: 'sweep-every',
    group: RUNNING,
    placeholder: 'duration',
    parse: duration('1s', '1h'),
    default: '60s',
    help: 'How often what expired long ago is removed; expiry by time needs no sweep',
  },
  trustedProxies: {
    flag: 'trusted-proxy',
    group: RUNNING,
    placeholder: 'network',
    parse: network,
    default: null,
    list: true,
    help: 'Address or network (10.0.0.0/8) of a reverse proxy whose forwarded headers are believed; may be repeated',
  },
  acceptClock: {
    flag: 'accept-clock',
    group: RUNNING,
    ...off,
    help: "Start although the system's clock is more than a day behind the last one seen",
  },
  removeDamaged: {
    flag: 'remove-damaged',
    group: RUNNING,
    ...off,
    help: 'Remove the pushes that a faulty disk has altered: for one start, when there is no backup to restore',
  },
  logFormat: {
    flag: 'log-format',
    group: RUNNING,
    placeholder: 'text|json',
    parse: oneOf('text', 'json'),
    default: 'text',
    help: 'How the log on standard error is written',
  },
} satisfies Table

/** What the app is made from; inferred from the table, so that a row is all a new setting needs. */
export type Config = Values<typeof settings>

/** Settings of which each must not be more than the next. */
export const ascending: readonly (readonly Setting[])[] = [
  [settings.expireAfterDaysMin, settings.expireAfterDaysDefault, settings.expireAfterDaysMax],
  [settings.expireAfterViewsMin, settings.expireAfterViewsDefault, settings.expireAfterViewsMax],
]
