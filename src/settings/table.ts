// The table of settings: flag, parser, default and one line of help for each.

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

const PLACE = 'Storage and network'
const PUSHES = 'Pushes and accounts'
const EXPIRY = 'Expiry'
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
    help: 'Address to listen on; localhost means 127.0.0.1 and ::1, 0.0.0.0 or :: means every network of the machine',
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
    defaultWords: 'the address of the request',
    help: 'Start of all links, such as https://once.example; may contain a path',
  },
  keyFile: {
    flag: 'key-file',
    group: PLACE,
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'instance.key in the data folder',
    file: true,
    help: 'File of the instance key, to store it apart from the data',
  },
  anonymousAccess: {
    flag: 'anonymous-access',
    group: PUSHES,
    ...on,
    help: 'Whether people without an account may use the API and create pushes; anyone may open links',
  },
  signups: {
    flag: 'signups',
    group: PUSHES,
    ...off,
    help: 'Whether anyone may create an account; otherwise administrators send invitations',
  },
  files: {
    flag: 'files',
    group: PUSHES,
    ...on,
    help: 'Whether files may be pushed, which always requires an account',
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
    help: 'Days until a push expires, unless its creator chooses',
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
    help: 'Views until a push expires, unless its creator chooses',
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
    help: 'Whether a link asks for a click before it shows the push, unless its creator chooses',
  },
  deletableByViewerDefault: {
    flag: 'deletable-by-viewer-default',
    group: EXPIRY,
    ...on,
    help: 'Whether viewers may delete a push, unless its creator chooses',
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
    help: 'Refuse new pushes when less than this is free on the disk; 0 never refuses',
  },
  maxLivePushesPerAddress: {
    flag: 'max-live-pushes-per-address',
    group: LIMITS,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000000'),
    default: '1000',
    help: 'Most live pushes of one address (IPv6: /64) without an account, except loopback; 0 means no limit',
  },
  maxLiveBytesPerAddress: {
    flag: 'max-live-bytes-per-address',
    group: LIMITS,
    placeholder: 'size',
    parse: size('0', '1024TiB'),
    default: '100MiB',
    help: 'Most bytes of sealed text in the live pushes of one address; 0 means no limit',
  },
  maxPassphraseAttempts: {
    flag: 'max-passphrase-attempts',
    group: LIMITS,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000'),
    default: '100',
    help: 'Wrong passphrases that expire a push, or lock it if viewers may not delete it; 0 means no limit',
  },
  sweepEvery: {
    flag: 'sweep-every',
    group: RUNNING,
    placeholder: 'duration',
    parse: duration('1s', '1h'),
    default: '60s',
    help: 'How often to remove data of expired pushes; pushes expire on time without it',
  },
  trustedProxies: {
    flag: 'trusted-proxy',
    group: RUNNING,
    placeholder: 'network',
    parse: network,
    default: null,
    list: true,
    help: 'Address or network (10.0.0.0/8) of a reverse proxy whose forwarded headers are trusted; may be repeated',
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
    help: "Start even if the system's clock is more than a day behind the last recorded time",
  },
  removeDamaged: {
    flag: 'remove-damaged',
    group: RUNNING,
    ...off,
    help: 'Remove pushes that a faulty disk has damaged; give it for one start, if there is no backup to restore',
  },
  logFormat: {
    flag: 'log-format',
    group: RUNNING,
    placeholder: 'text|json',
    parse: oneOf('text', 'json'),
    default: 'text',
    help: 'Format of the log on standard error',
  },
} satisfies Table

/** The configuration of the app, inferred from the table so that a new setting needs only a row. */
export type Config = Values<typeof settings>

/** In each list, no setting may exceed the next one. */
export const ascending: readonly (readonly Setting[])[] = [
  [settings.expireAfterDaysMin, settings.expireAfterDaysDefault, settings.expireAfterDaysMax],
  [settings.expireAfterViewsMin, settings.expireAfterViewsDefault, settings.expireAfterViewsMax],
]
