// THE table of settings: flag, environment name, parser, default, and one line of documentation for each.

import {
  baseUrl,
  corsOrigin,
  duration,
  host,
  network,
  oneOf,
  path,
  port,
  size,
  truth,
  wholeNumber,
} from './parsers.ts'
import { defaultDataDir, type Setting, type Table, type Values } from './setting.ts'

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
  maxLivePushesPerAddress: {
    flag: 'max-live-pushes-per-address',
    group: LIMITS,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000000'),
    default: '1000',
    help: 'Most live pushes from one address (IPv6: /64) without an account, loopback excepted; 0 for no limit',
  },
  maxLiveBytesPerAddress: {
    flag: 'max-live-bytes-per-address',
    group: LIMITS,
    placeholder: 'size',
    parse: size('0', '1024TiB'),
    default: '100MiB',
    help: 'Most bytes of their sealed texts in all; 0 for no limit',
  },
  maxPassphraseAttempts: {
    flag: 'max-passphrase-attempts',
    group: LIMITS,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000'),
    default: '100',
    help: 'Wrong passphrases in all that end a push, or lock it where viewers may not delete it; 0 for no end',
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
  corsOrigins: {
    flag: 'cors-origins',
    group: RUNNING,
    placeholder: 'origins',
    parse: corsOrigin,
    default: null,
    list: true,
    help: 'Other web sites whose pages may use the API, such as https://app.example, separated by commas; * for any',
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
