// How much Oncebox accepts.

import { size, wholeNumber } from '../parsers.ts'
import type { Table } from '../setting.ts'

const group = 'Limits'

export const limitsSettings = {
  maxPayloadBytes: {
    flag: 'max-payload-bytes',
    group,
    placeholder: 'size',
    parse: size('1', '16MiB'),
    default: '1MiB',
    help: 'Largest text; KiB and MiB are powers of 1024 (as are K and M), KB and MB powers of 1000',
  },
  maxFileBytes: {
    flag: 'max-file-bytes',
    group,
    placeholder: 'size',
    parse: size('1', '1TiB'),
    default: '4GiB',
    help: 'Largest file',
  },
  maxFiles: {
    flag: 'max-files',
    group,
    placeholder: 'number',
    parse: wholeNumber('1', '1000'),
    default: '10',
    help: 'Most files in one push',
  },
  minFreeSpace: {
    flag: 'min-free-space',
    group,
    placeholder: 'size',
    parse: size('0', '1024TiB'),
    default: '512MiB',
    help: 'Refuse new pushes when less than this is free on the disk of the data folder; 0 never refuses',
  },
  maxLivePushesPerAddress: {
    flag: 'max-live-pushes-per-address',
    group,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000000'),
    default: '1000',
    help: 'Most active pushes of one address (IPv6: /64, on local networks single addresses) without an account, except loopback; 0 means no limit',
  },
  maxLiveBytesPerAddress: {
    flag: 'max-live-bytes-per-address',
    group,
    placeholder: 'size',
    parse: size('0', '1024TiB'),
    default: '100MiB',
    help: 'Most bytes of the active pushes of one address: sealed text, and 1 KiB of log for each view; 0 means no limit',
  },
  maxPassphraseAttempts: {
    flag: 'max-passphrase-attempts',
    group,
    placeholder: 'number',
    parse: wholeNumber('0', '1000000'),
    default: '100',
    help: 'Wrong passphrases that expire a push, or lock it if recipients may not delete it; 0 means no limit',
  },
} satisfies Table
