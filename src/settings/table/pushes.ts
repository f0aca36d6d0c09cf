// Settings of pushes: which kinds, who may create them, how long they live, and their limits.

import { END_TO_END_RULES, MAX_DAYS, MAX_VIEWS } from '../../domain/new-push.ts'
import { mailDomain, wholeNumber } from '../parsers.ts'
import { choices, durations, numbers, off, on, section, sizes } from '../setting.ts'

const days = { placeholder: 'days', parse: wholeNumber('1', String(MAX_DAYS)) }
const views = { placeholder: 'views', parse: wholeNumber('1', String(MAX_VIEWS)) }

const kinds = section('Pushes and accounts', {
  anonymousAccess: {
    ...on,
    help: 'Whether people without an account may create pushes and use the API; anyone may open secret links',
  },
  signups: {
    ...off,
    help: 'Whether anyone may create an account; otherwise administrators send invitations',
  },
  showSender: { ...off, help: 'Whether senders may tell recipients the address of their account' },
  endToEnd: {
    ...choices(...END_TO_END_RULES),
    default: 'offered',
    help: 'Whether senders may encrypt a push so that this server cannot read it: "default" chooses it in the form, "required" refuses every other push and requests without an age key',
  },
  files: { ...on, help: 'Whether files may be shared, which always needs an account' },
  urlPushes: { ...on, help: 'Whether links may be shared' },
  qrPushes: { ...on, help: 'Whether QR codes may be shared' },
})

const rules = section('Rules of the house', {
  requireSecondFactor: {
    ...off,
    help: 'Whether each account must set up a second factor before its pages work; the API asks for tokens alone, as ever',
  },
  signupDomains: {
    placeholder: 'domains',
    parse: mailDomain,
    default: null,
    defaultWords: 'any',
    list: true,
    help: 'Domains of the addresses that may sign up, such as example.org, separated by commas; invitations may name others, and no mail proves what is typed',
  },
  requirePassphrase: {
    ...off,
    help: 'Whether each push needs a passphrase; what is sent to a request for a secret and what is imported does not',
  },
  maxViewsAnonymous: {
    ...views,
    default: null,
    defaultWords: 'as --expire-after-views-max',
    help: 'Most views of a push that somebody without an account creates',
  },
})

const expiry = section('Expiry', {
  expireAfterDaysDefault: {
    ...days,
    default: '7',
    help: 'Days until a push expires, unless its sender chooses',
  },
  expireAfterDaysMin: { ...days, default: '1', help: 'Fewest days a sender may choose' },
  expireAfterDaysMax: { ...days, default: '90', help: 'Most days a sender may choose' },
  expireAfterViewsDefault: {
    ...views,
    default: '5',
    help: 'Views until a push expires, unless its sender chooses',
  },
  expireAfterViewsMin: { ...views, default: '1', help: 'Fewest views a sender may choose' },
  expireAfterViewsMax: { ...views, default: '100', help: 'Most views a sender may choose' },
  retrievalStepDefault: {
    ...on,
    help: 'Whether recipients are told first that opening uses up a view, unless the sender chooses',
  },
  deletableByViewerDefault: {
    ...on,
    help: 'Whether recipients may delete a push, unless its sender chooses',
  },
  purgeAfter: {
    ...durations('1d', '36500d'),
    default: '365d',
    help: 'How long an expired push stays in the list of its owner, with its log',
  },
})

const limits = section('Limits', {
  maxPayloadBytes: {
    ...sizes('1', '16MiB'),
    default: '1MiB',
    help: 'Largest text; KiB and MiB are powers of 1024 (as are K and M), KB and MB powers of 1000',
  },
  maxFileBytes: { ...sizes('1', '1TiB'), default: '4GiB', help: 'Largest file' },
  maxFiles: { ...numbers('1', '1000'), default: '10', help: 'Most files in one push' },
  minFreeSpace: {
    ...sizes('0', '1024TiB'),
    default: '512MiB',
    help: 'Refuse new pushes, and everything else that needs new room, when less than this is free on the disk of the data folder; 0 never refuses',
  },
  maxLivePushesPerAddress: {
    ...numbers('0', '1000000000'),
    default: '1000',
    help: 'Most active pushes of one address (IPv6: /64, on local networks single addresses) without an account, except loopback; 0 means no limit',
  },
  maxLiveBytesPerAddress: {
    ...sizes('0', '1024TiB'),
    default: '100MiB',
    help: 'Most bytes of the active pushes of one address: sealed text, and 1 KiB of log for each view; 0 means no limit',
  },
  maxPassphraseAttempts: {
    ...numbers('0', '1000000'),
    default: '100',
    help: 'Wrong passphrases that expire a push, or lock it if recipients may not delete it; 0 means no limit',
  },
})

export const pushesSettings = { ...kinds, ...rules, ...expiry, ...limits }
