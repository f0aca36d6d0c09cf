// The names that this server answers to, the start of its links, and its own origins.

import { isIP } from 'node:net'
import { isLoopbackAddress, remember } from '../../domain/client.ts'
import { DomainError } from '../../domain/errors.ts'
import { isLoopback } from '../../text/local-names.ts'
import { spellingsOf } from '../../text/web-address.ts'
import { EXEMPT_PATHS, FILES } from '../urls.ts'
import { isForwarded } from './client-address.ts'
import type { Exchange } from './exchange.ts'
import { isUnixHost } from './unix-socket.ts'

/** The address that a request names: in its Host header, or as forwarded by a trusted proxy. */
export type RequestAddress = { scheme: 'http' | 'https' | null; host: string | null }

export type HostRules = ReturnType<typeof createHostRules>

/** Makes rules that accept only the host of --receive-url, and no loopback or local name. */
export function createStrictHostRules(url: string): HostRules {
  const { protocol, hostname, origin, pathname } = new URL(url)
  const basePath = pathname.replace(/(?<!\/)\/+$/, '')
  return {
    check: (host) => {
      const name = host === null ? null : nameOf(host)
      if (name === hostname) return
      const flags = `--receive-url ${protocol}//${host}${basePath}`
      const details = name === null ? {} : { host: { name, flags } }
      throw new DomainError('unknown_host', STRICT_REFUSAL, details)
    },
    baseUrlFor: () => url,
    isOwnOrigin: (asked) => spellingsOf(origin).includes(asked),
    basePath,
  }
}

type HostRulesOptions = {
  baseUrl: string | null
  /** --host: the name or address to listen on. */
  host: string
  /** The addresses that --host resolves to. */
  addresses: readonly string[]
}

export function createHostRules({ baseUrl, host: chosen, addresses }: HostRulesOptions) {
  const base = baseUrl === null ? null : new URL(baseUrl)
  const listensOnLoopback = addresses.every((address) => isLoopbackName(address) || isUnixHost(address))
  const basePath = base === null ? '' : base.pathname.replace(/(?<!\/)\/+$/, '')
  const ownNames = new Set([base?.hostname, chosen.toLowerCase()])

  /** Throws `unknown_host` for a name that is not this server's. */
  function check(host: string | null, from: Asker): void {
    const name = host === null ? null : nameOf(host)
    if (name !== null && (ownNames.has(name) || isLoopbackName(name))) return
    // Only programs of this machine can reach a loopback listener. If they use another name, a site made it
    // resolve to this address (DNS rebinding).
    const isReached = !listensOnLoopback || from.isFromProxy
    if (name === null || !isReached || !isLocalName(name))
      throw refuseHost(host, { ...from, basePath, listensOnLoopback })
  }

  /** Returns the origin that the browser asked for; null when the Host is not a valid name. */
  function originOf({ scheme, host }: RequestAddress): string | null {
    if (host === null || nameOf(host) === null) return null
    // A proxy may speak TLS without forwarding the scheme. Then use that of the base URL.
    if (scheme === null && base !== null && hasHost(base, host)) return base.origin
    return URL.parse(`${scheme ?? 'http'}://${host}`)?.origin ?? null
  }

  /** Whether this origin (in lower case) is this server's: the same scheme, host and port. */
  function isOwnOrigin(origin: string, addressed: RequestAddress): boolean {
    const own = [base?.origin ?? null, originOf(addressed)]
    return own.some((one) => one !== null && spellingsOf(one).includes(origin))
  }

  return {
    check,
    /** The start of every absolute link, without a trailing slash. */
    baseUrlFor: ({ scheme, host }: RequestAddress) => baseUrl ?? `${scheme ?? 'http'}://${host}`,
    isOwnOrigin,
    /** The path in --base-url, '' without one. */
    basePath,
  }
}

function hasHost(base: URL, host: string): boolean {
  return URL.parse(`${base.protocol}//${host}`)?.origin === base.origin
}

/** The longest name by RFC 1035, 2.3.4. */
const MAX_NAME = 253

/** Returns null for a host that is longer than any name with a port, to bound the work of parsing it. */
export function readHost(host: string | null): string | null {
  return host !== null && host.length > MAX_NAME + ':65535'.length ? null : host
}

/**
 * Returns the name without its port, in lower case; null if no URL can contain it, such as `a:99999`,
 * `[::1::]` and `09`. Its characters have no special meaning in HTML, JSON or a shell.
 */
const nameOf = remember((host: string): string | null => {
  if (readHost(host) === null) return null
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)
  if (match === null || !URL.canParse(`http://${host}`)) return null
  return match[1]?.toLowerCase() ?? null
})

/** Whether a name never leaves the machine; also an IPv4 address within IPv6. */
export function isLoopbackName(name: string): boolean {
  const address = withoutBrackets(name)
  return isLoopback(name) || (isIP(address) === 6 && isLoopbackAddress(address))
}

/** Whether a Host header, with or without a port, is a loopback name. */
export function isLoopbackHost(host: string): boolean {
  const name = nameOf(host)
  return name !== null && isLoopbackName(name)
}

/** Whether a name cannot be registered in the public DNS: an address, a name without a dot, or mDNS. */
function isLocalName(name: string): boolean {
  return (
    isIP(withoutBrackets(name)) !== 0 ||
    !name.includes('.') ||
    (name.endsWith('.local') && name.length > '.local'.length)
  )
}

function withoutBrackets(name: string): string {
  return name.startsWith('[') ? name.slice(1, -1) : name
}

const ANY_HOST_PATHS: ReadonlySet<string> = new Set([
  ...EXEMPT_PATHS,
  ...[FILES.up, FILES.ready, FILES.favicon].map(({ path }) => path),
])
const ASSETS = FILES.asset.href({ name: '' })

/**
 * Whether a path is answered for any Host. Monitoring uses any address, and the page that refuses a host
 * needs its style sheet and icons. None of these answers holds a secret.
 */
export function answersAnyHost(path: string): boolean {
  return ANY_HOST_PATHS.has(path) || path.startsWith(ASSETS)
}

/** The facts about a request that show who named its host. */
export type Asker = Pick<Exchange, 'isFromProxy'> &
  Partial<Pick<Exchange, 'scheme' | 'clientAddress'>> & { request?: { headers: Headers } }

type RefusedAsker = Asker & { basePath: string; listensOnLoopback: boolean }

/** Makes the refusal of a host. Quotes the client's value only if it is a plain name, address and port. */
function refuseHost(host: string | null, asker: RefusedAsker): DomainError {
  const origin = host === null || nameOf(host) === null ? null : URL.parse(`${schemeOf(asker)}://${host}`)
  if (origin === null) return new DomainError('unknown_host', REFUSAL)
  const flags = [`--base-url ${origin.origin}${asker.basePath}`]
  const proxy = undeclaredProxy(asker)
  if (proxy !== null) flags.push(`--trusted-proxy ${proxy}`)
  const name = origin.hostname
  const start = `This server does not answer to the name ${name}. If it is right, start the server with ${flags.join(' ')}`
  const hint = asker.listensOnLoopback && proxy === null ? PROXY_HINT : ''
  return new DomainError('unknown_host', `${start}${hint}`, { host: { name, flags: flags.join(' ') } })
}

const REFUSAL = 'This server does not answer to that host name. Start it with --base-url to name its address.'
const STRICT_REFUSAL = 'This server answers to the name in --receive-url alone.'
const PROXY_HINT = ' (and with --trusted-proxy ADDRESS if a reverse proxy forwards to it)'
/** Returns the scheme for the text of the refusal, so it may trust an undeclared proxy. */
function schemeOf({ scheme, request }: Asker): 'http' | 'https' {
  const said = request?.headers.get('x-forwarded-proto')?.split(',')[0]?.trim()
  return scheme ?? (said === 'https' ? 'https' : 'http')
}

function undeclaredProxy({ isFromProxy, clientAddress = '', request }: Asker): string | null {
  const mayDeclare = request !== undefined && !isFromProxy && clientAddress !== ''
  return mayDeclare && isForwarded(request.headers) ? clientAddress : null
}
