// Which names this server answers to, and what links start with. A name that is not ours may be a rebinding attack.

import { isIP } from 'node:net'
import { DomainError } from '../domain/errors.ts'

export type HostRules = {
  /** Throws `unknown_host` for a name that is not this server's. */
  check(host: string | null): void
  /** What links start with, without a trailing slash. */
  baseUrlFor(request: { scheme: string; host: string | null }): string
  /** The path in --base-url, '' without one. */
  basePath: string
}

export function createHostRules(baseUrl: string | null): HostRules {
  const base = baseUrl === null ? null : new URL(baseUrl)
  const ownName = base?.hostname ?? null

  function check(host: string | null): void {
    const name = host === null ? null : nameOf(host)
    if (name !== null && (name === ownName || isLocalName(name))) return
    const remedy = 'Start it with --base-url to name the address that links are to use.'
    throw new DomainError('unknown_host', `This server does not answer to that host name. ${remedy}`)
  }

  return {
    check,
    baseUrlFor: ({ scheme, host }) => baseUrl ?? `${scheme}://${host}`,
    basePath: base === null ? '' : base.pathname.replace(/\/+$/, ''),
  }
}

const MAX_NAME = 253

/** The name without its port, in lower case; null when it is none. */
function nameOf(host: string): string | null {
  // No name is longer (RFC 1035, 2.3.4).
  if (host.length > MAX_NAME + ':65535'.length) return null
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)
  return match?.[1]?.toLowerCase() ?? null
}

/** Names that no stranger can register: localhost, addresses, names without a dot, and mDNS. */
function isLocalName(name: string): boolean {
  const address = name.startsWith('[') ? name.slice(1, -1) : name
  return (
    isIP(address) !== 0 || !name.includes('.') || (name.endsWith('.local') && name.length > '.local'.length)
  )
}
