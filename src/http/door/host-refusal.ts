// Refuses a request for a name that is not this server's, and names the flag that makes it one.

import { DomainError } from '../../domain/errors.ts'

export type Asker = {
  isTrustedProxy: boolean
  /** The scheme that a trusted proxy was asked with. */
  scheme?: 'http' | 'https' | null
  /** The address of the socket, or of the client of a trusted proxy. */
  address?: string
  headers?: Headers
}

export type RefusedAsker = Asker & { basePath: string; listensOnLoopback: boolean }

/** `host` is what the client sent. It is repeated only if it is a plain name, address and port. */
export function refuseHost(host: string | null, asker: RefusedAsker): DomainError {
  const origin = host === null || !PLAIN.test(host) ? null : URL.parse(`${schemeOf(asker)}://${host}`)
  if (origin === null) return new DomainError('unknown_host', REFUSAL)
  const flags = [`--base-url ${origin.origin}${asker.basePath}`]
  const proxy = undeclaredProxy(asker)
  if (proxy !== null) flags.push(`--trusted-proxy ${proxy}`)
  const name = origin.hostname
  const start = `This server does not answer to the name ${name}. If it is right, start the server with ${flags.join(' ')}`
  const hint = asker.listensOnLoopback && proxy === null ? PROXY_HINT : ''
  return new DomainError('unknown_host', `${start}${hint}`, { host: { name, flags: flags.join(' ') } })
}

/** Names and addresses whose characters have no special meaning in HTML, JSON or a shell. */
const PLAIN = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(:\d{1,5})?$/i

const REFUSAL = 'This server does not answer to that host name. Start it with --base-url to name its address.'
const PROXY_HINT = ' (and with --trusted-proxy ADDRESS if a reverse proxy forwards to it)'

/** Believes an undeclared proxy too, because the scheme only goes into the text. */
function schemeOf({ scheme, headers }: Asker): 'http' | 'https' {
  const said = headers?.get('x-forwarded-proto')?.split(',')[0]?.trim()
  return scheme ?? (said === 'https' ? 'https' : 'http')
}

function undeclaredProxy({ isTrustedProxy, address = '', headers }: Asker): string | null {
  const isForwarded = FORWARDED.some((name) => headers?.has(name))
  return isForwarded && !isTrustedProxy && address !== '' ? address : null
}

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded']
