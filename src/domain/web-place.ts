// Places on the web that the operator lists, such as the hosts of webhooks: a host, and a port unless it is that of its scheme.

import { authorityOf } from './web-address.ts'

/** `hostname` as URLs write it: in lower case, an address of IPv6 in brackets. */
export type WebPlace = { hostname: string; port: number; isTls: boolean }

/** Null for a URL that is not http or https, or that names a user, as browsers and proxies read those in different ways. */
export function webPlaceOf(url: string): WebPlace | null {
  const authority = authorityOf(url)
  if (authority === null || authority.username !== '' || authority.password !== '') return null
  const isTls = authority.protocol === 'https:'
  return { hostname: authority.hostname, port: Number(authority.port) || portOf(isTls), isTls }
}

const portOf = (isTls: boolean) => (isTls ? 443 : 80)

/** An item of the list in the form that is compared: `host` or `host:port`; null for anything else. */
export function parsePlace(text: string): string | null {
  const given = text.trim()
  const bare = (given.match(/:/g) ?? []).length > 1 && !given.startsWith('[') ? `[${given}]` : given
  const [, host = '', digits] = /^(\[[\da-f:.]+\]|[^:[\]\s/?#@\\]+)(?::(\d{1,5}))?$/i.exec(bare) ?? []
  const hostname = host === '' ? '' : (authorityOf(`http://${host}`)?.hostname ?? '')
  const port = digits === undefined ? null : Number(digits)
  if (!/^(\[[\da-f:.]+\]|[a-z\d_]([a-z\d._-]*[a-z\d_])?)$/.test(hostname)) return null
  if (port !== null && (port < 1 || port > 65_535)) return null
  return port === null ? hostname : `${hostname}:${port}`
}

/** An item without a port means that of the scheme. */
export function isListed({ hostname, port, isTls }: WebPlace, listed: readonly string[]): boolean {
  return listed.includes(`${hostname}:${port}`) || (port === portOf(isTls) && listed.includes(hostname))
}
