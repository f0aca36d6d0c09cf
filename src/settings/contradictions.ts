// Settings that make no sense together.

import type { Config } from './table.ts'

/** One sentence for each contradiction, naming the flags. */
export function contradictionsIn(config: Config): string[] {
  return RULES.flatMap(([isWrong, sentence]) => (isWrong(config) ? [sentence] : []))
}

const LOOPBACK = /^(localhost|127\..*|::1)$/i

const RULES: readonly [(config: Config) => boolean, string][] = [
  [
    ({ tls, tlsCert, tlsKey }) => tls === 'files' && (tlsCert === null || tlsKey === null),
    '--tls files needs both --tls-cert and --tls-key',
  ],
  [
    ({ tls, tlsCert, tlsKey }) => tls !== 'files' && (tlsCert !== null || tlsKey !== null),
    '--tls-cert and --tls-key need --tls files',
  ],
  [
    ({ tls, tlsAuthorityKey }) => tls !== 'auto' && tlsAuthorityKey !== null,
    '--tls-authority-key needs --tls auto',
  ],
  [
    ({ tls, httpPort }) => tls === 'off' && httpPort !== null,
    '--http-port needs --tls: without TLS, --port is plain http already',
  ],
  [
    ({ port, httpPort }) => httpPort !== null && httpPort === port && port !== 0,
    '--http-port must be another port than --port',
  ],
  [
    ({ tls, baseUrl }) => tls !== 'off' && baseUrl !== null && !baseUrl.startsWith('https:'),
    '--base-url must start with https:// when --tls is on',
  ],
  [
    ({ mdns, host }) => mdns !== null && LOOPBACK.test(host),
    '--mdns announces this server to other machines, which cannot reach it: add --host 0.0.0.0, or use --lan',
  ],
  [
    ({ host, tls, mdns }) => host.startsWith('unix:') && (tls !== 'off' || mdns !== null),
    '--host unix: is plain http for a proxy on this machine: leave out --tls, --mdns and --lan',
  ],
]
