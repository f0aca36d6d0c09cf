// How the server runs.

import { addressAndPort, corsOrigin, duration, network, oneOf, path } from '../parsers.ts'
import { off, type Table } from '../setting.ts'

const group = 'Running'

export const runningSettings = {
  sweepEvery: {
    flag: 'sweep-every',
    group,
    placeholder: 'duration',
    parse: duration('1s', '1h'),
    default: '60s',
    help: 'How often to remove data of expired pushes; pushes expire on time without it',
  },
  trustedProxies: {
    flag: 'trusted-proxy',
    group,
    placeholder: 'network',
    parse: network,
    default: null,
    list: true,
    help: 'Address or network (10.0.0.0/8) of a reverse proxy whose forwarded headers are trusted; may be repeated',
  },
  corsOrigins: {
    flag: 'cors-origins',
    group,
    placeholder: 'origins',
    parse: corsOrigin,
    default: null,
    list: true,
    help: 'Other web sites whose pages may use the API, such as https://app.example, separated by commas; * for any',
  },
  acceptClock: {
    flag: 'accept-clock',
    group,
    ...off,
    help: "Trust the system's clock at this start, even if it is far from the time of the last use",
  },
  acceptMove: {
    flag: 'accept-move',
    group,
    ...off,
    help: 'Serve a data folder that was moved, for one start; of a copy it opens what was read at the original since',
  },
  acceptDatabase: {
    flag: 'accept-database',
    group,
    ...off,
    help: 'Serve a PostgreSQL database that was moved, for one start; never a copy of one that is still served',
  },
  maxClockGap: {
    flag: 'max-clock-gap',
    group,
    placeholder: 'duration',
    parse: duration('1d', '36500d'),
    default: '7d',
    help: 'When the server was off for longer, keep expired pushes until an administrator confirms the clock',
  },
  noOpen: {
    flag: 'no-open',
    group,
    ...off,
    help: 'Do not open the browser at the setup page (it opens only on a desktop, from a terminal)',
  },
  metricsListen: {
    flag: 'metrics-listen',
    group,
    placeholder: 'address:port',
    parse: addressAndPort,
    default: null,
    defaultWords: 'no metrics',
    help: 'Address and port to serve /metrics on for Prometheus, such as 127.0.0.1:9100; anyone who reaches it may read it',
  },
  logFormat: {
    flag: 'log-format',
    group,
    placeholder: 'text|json',
    parse: oneOf('text', 'json'),
    default: 'text',
    help: 'Format of the log and of all other lines of the server',
  },
  logFile: {
    flag: 'log-file',
    group,
    placeholder: 'file',
    parse: path,
    default: null,
    defaultWords: 'standard error',
    help: 'File to append the log to; SIGHUP opens it again after a rotation',
  },
} satisfies Table
