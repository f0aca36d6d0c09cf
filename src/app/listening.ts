// Opens the sockets of a server: the main one, and plain http beside TLS. Announces its name on the local network.

import {
  type Binding,
  type Listener,
  listen,
  type Network,
  type ServerUrls,
  urlsOf,
} from '../http/door/listener.ts'
import { isUnixHost, removeStaleSocket } from '../http/door/unix-socket.ts'
import { PAGES } from '../http/urls.ts'
import type { Announcement } from '../lan/mdns.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import type { Door } from './door.ts'
import type { Tls } from './tls.ts'

export type ListeningOptions = {
  config: Pick<Config, 'host' | 'port' | 'httpPort' | 'mdns'>
  door: Pick<Door, 'handle' | 'handlePlain' | 'shed' | 'isLeaving'>
  tls: Tls | null
  bindings: readonly Binding[]
  listAddresses: Network['listAddresses']
  log: Log
}

/** The longest wait for the name, which takes a second to announce. */
const NAMING_MS = 5_000

/** `pages` are the URLs of the trust page, the one for other computers first. */
export type Trust = { fingerprint: string; pages: string[] }

/** Opens all or none. Throws the error of the system, with the `address` that failed. */
export async function openListening(options: ListeningOptions) {
  const { config, door, tls, bindings, listAddresses } = options
  const { host, port, httpPort } = config
  const { shed, isLeaving } = door
  if (isUnixHost(host)) await removeStaleSocket(host)
  const common = { shed, isLeaving, bindings, listAddresses }
  const current = tls?.certificate.current() ?? null
  const main = listen({ ...common, handle: door.handle, port, tls: current })
  tls?.watch.follow(main.renew)
  const openPlain = (at: number) => listen({ ...common, handle: door.handlePlain, port: at, tls: null })
  const plain = httpPort === null ? null : await orStop(() => openPlain(httpPort), main)
  const announcement = await openAnnouncement(options, main.port)

  /** Resolves when it is known whether the name on the local network is ours, after seconds at the most. */
  async function addresses(): Promise<{ urls: ServerUrls; trust: Trust | null }> {
    await Promise.race([announcement?.tried, Bun.sleep(NAMING_MS)])
    const scheme = tls === null ? 'http' : 'https'
    const found = urlsOf({ ...main, scheme }, { host, listAddresses })
    // The announced name comes first among those for other computers, if it is ours.
    const isOurs = announcement?.state() === 'announced'
    const named = isOurs ? [`${scheme}://${config.mdns}.local:${main.port}`] : []
    const urls = { ...found, elsewhere: [...named, ...found.elsewhere] }
    return { urls, trust: trustOf(tls, { urls, httpPort: plain?.port ?? null }) }
  }

  async function stop(): Promise<void> {
    tls?.watch.follow(async () => undefined)
    await Promise.all([main.stop(), plain?.stop(), announcement?.stop()])
  }

  return { port: main.port, addresses, stop }
}

async function orStop(open: () => Listener, other: Listener): Promise<Listener> {
  try {
    return open()
  } catch (cause) {
    await other.stop()
    throw cause
  }
}

/** Links to the trust page by address, because not every phone can resolve names that end in .local. */
function trustOf(
  tls: Tls | null,
  { urls, httpPort }: { urls: ServerUrls; httpPort: number | null },
): Trust | null {
  const authority = tls?.certificate.authority ?? null
  if (authority === null) return null
  const byAddress = urls.elsewhere.filter((url) => !new URL(url).hostname.endsWith('.local'))
  const pages = [...byAddress, ...urls.elsewhere, urls.hereUrl].map((url) => {
    const { protocol, hostname, port } = new URL(url)
    const start = httpPort === null ? `${protocol}//${hostname}:${port}` : `http://${hostname}:${httpPort}`
    return `${start}${PAGES.trust.href()}`
  })
  return { fingerprint: authority.fingerprint, pages: [...new Set(pages)] }
}

async function openAnnouncement(options: ListeningOptions, port: number): Promise<Announcement | null> {
  const { config, tls, listAddresses, log } = options
  if (config.mdns === null) return null
  // Loaded only when needed: few servers announce themselves.
  const { announce } = await import('../lan/mdns.ts')
  return announce({ name: config.mdns, port, isTls: tls !== null, listAddresses, log })
}
