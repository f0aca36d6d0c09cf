// Settings of the pages' look, of scheduled backups, mail and webhooks, and of how the server runs.

import { ageRecipient } from '../../domain/age-recipient.ts'
import { MOST_OF_APPEARANCE } from '../../domain/appearance.ts'
import { brandColor, plainText } from '../brand-parsers.ts'
import { mailFrom, showSmtpUrl, smtpUrl } from '../mail-parsers.ts'
import { addressAndPort, baseUrl, corsOrigin, network, webhookHost } from '../parsers.ts'
import { choices, durations, file, folder, numbers, off, section } from '../setting.ts'

const brand = section('Name and look', {
  brandName: {
    placeholder: 'text',
    parse: plainText(MOST_OF_APPEARANCE.name),
    default: 'Oncebox',
    help: 'Name on every page and in its title, such as the name of your organisation',
  },
  brandLogo: {
    ...file,
    defaultWords: 'the mark of Oncebox',
    help: 'Logo beside the name: PNG, SVG, JPEG or WebP of at most 256 KiB, read at the start',
  },
  brandColor: {
    placeholder: 'colour',
    parse: brandColor,
    default: null,
    defaultWords: '#24539b',
    help: 'Colour of buttons and links, such as #24539b; refused if it is hard to read, lightened for dark pages',
  },
  contact: {
    placeholder: 'text',
    parse: plainText(MOST_OF_APPEARANCE.contact),
    default: null,
    help: 'Whom to ask, shown to recipients and where a link no longer works, such as "IT, help@once.example"',
  },
  notice: {
    placeholder: 'text',
    parse: plainText(MOST_OF_APPEARANCE.notice),
    default: null,
    help: 'Announcement at the top of every page, such as "Maintenance on Saturday from 8 to 9"',
  },
})

const backups = section('Backups', {
  backupDir: {
    ...folder,
    defaultWords: 'no backups',
    help: 'Folder for backups that the server makes by itself, on another disk than the data; may be shared with other servers',
  },
  backupEvery: {
    ...durations('1s', '365d'),
    default: '24h',
    help: 'How often to make a backup in --backup-dir; one that was missed is made soon after the next start',
  },
  backupKeep: {
    ...numbers('1', '1000'),
    default: '7',
    help: 'How many of its backups the server keeps; it removes older ones once a new one is complete',
  },
  backupRecipients: {
    flag: 'backup-recipient',
    placeholder: 'age-key',
    parse: ageRecipient,
    default: null,
    defaultWords: 'not encrypted',
    list: true,
    help: 'Public key of age (age1…) to encrypt the backups for; may be repeated, and any one secret key then opens them',
  },
})

const mail = section('Mail', {
  smtpUrl: {
    placeholder: 'url',
    parse: smtpUrl,
    default: null,
    defaultWords: 'no mail',
    file: true,
    show: showSmtpUrl,
    help:
      'Server that takes mail, such as smtps://user:password@mail.example; TLS is required and verified, also with smtp:// ' +
      '(STARTTLS), by the authority in ?ca=/path.pem if given; needs --mail-from and --base-url',
  },
  mailFrom: {
    placeholder: 'address',
    parse: mailFrom,
    default: null,
    defaultWords: 'no mail',
    help: 'Sender of the mails, such as "Oncebox <once@example.org>"',
  },
})

const notices = section('Notices', {
  webhookHosts: {
    placeholder: 'hosts',
    parse: webhookHost,
    default: null,
    defaultWords: 'no webhooks',
    list: true,
    help: 'Hosts that webhooks may send to, such as ntfy.sh or 192.168.1.5:8123, separated by commas; nothing else is sent to',
  },
})

const running = section('Running', {
  sweepEvery: {
    ...durations('1s', '1h'),
    default: '60s',
    help: 'How often to remove data of expired pushes; pushes expire on time without it',
  },
  trustedProxies: {
    flag: 'trusted-proxy',
    placeholder: 'network',
    parse: network,
    default: null,
    list: true,
    help: 'Address or network (10.0.0.0/8) of a reverse proxy whose forwarded headers are trusted; may be repeated',
  },
  receiveListen: {
    placeholder: 'address:port',
    parse: addressAndPort,
    default: null,
    defaultWords: 'one listener for all',
    help: 'Address and port of a second listener that knows only what recipients need, such as 192.0.2.1:5200; needs --receive-url',
  },
  receiveUrl: {
    placeholder: 'url',
    parse: baseUrl,
    default: null,
    defaultWords: 'the address of --base-url',
    help: 'Address of --receive-listen for people outside, such as https://open.example; links for recipients start with it',
  },
  corsOrigins: {
    placeholder: 'origins',
    parse: corsOrigin,
    default: null,
    list: true,
    help: 'Other web sites whose pages may use the API, such as https://app.example, separated by commas; * for any',
  },
  acceptClock: {
    ...off,
    help: "Trust the system's clock at this start, even if it is far from the time of the last use",
  },
  acceptMove: {
    ...off,
    help: 'Serve a data folder that was moved, for one start; of a copy it opens what was read at the original since',
  },
  acceptDatabase: {
    ...off,
    help: 'Serve a PostgreSQL database that was moved, for one start; never a copy of one that is still served',
  },
  maxClockGap: {
    ...durations('1d', '36500d'),
    default: '7d',
    help: 'When the server was off for longer, keep expired pushes until an administrator confirms the clock',
  },
  noOpen: {
    ...off,
    help: 'Do not open the browser at the setup page (it opens only on a desktop, from a terminal)',
  },
  metricsListen: {
    placeholder: 'address:port',
    parse: addressAndPort,
    default: null,
    defaultWords: 'no metrics',
    help: 'Address and port to serve /metrics on for Prometheus, such as 127.0.0.1:9100; anyone who reaches it may read it',
  },
  logFormat: {
    ...choices('text', 'json'),
    default: 'text',
    help: 'Format of the log and of all other lines of the server',
  },
  logFile: {
    ...file,
    defaultWords: 'standard error',
    help: 'File to append the log to; SIGHUP opens it again after a rotation',
  },
  auditLog: {
    ...file,
    defaultWords: 'no audit log',
    help: 'File to append one line of JSON to for each act: sign-ins, accounts, pushes, requests; SIGHUP opens it again',
  },
})

export const runningSettings = { ...brand, ...backups, ...mail, ...notices, ...running }
