// Opens the sockets of a server: the main one, plain http beside TLS, and those for recipients and metrics.
// Announces its name on the local network.

import { type Binding, listen, type Network } from '../http/door/listener.ts'
import { type ServerUrls, urlsOf } from '../http/door/reachable.ts'
import { isUnixHost, removeStaleSocket } from '../http/door/unix-socket.ts'
import { listenForMetrics } from '../http/metrics-listener.ts'
import { PAGES } from '../http/urls.ts'
import type { Announcement } from '../lan/mdns.ts'
import type { Log } from '../operating/log.ts'
import type { Metrics } from '../operating/metrics.ts'
import { readOpenFilesLimit } from '../operating/open-files.ts'
import type { Config } from '../settings/table.ts'
import { splitAddress } from '../text/server-address.ts'
import { type Door, hasTlsOutside } from './door.ts'
import type { Tls } from './tls.ts'

type ListeningOptions = {
  config: Config
  door: Pick<Door, 'handle' | 'handlePlain' | 'outside' | 'shed' | 'isLeaving'>
  tls: Tls | null
  metrics: Metrics | null
  bindings: readonly Binding[]
  listAddresses: Network['listAddresses']
  log: Log
}

/** The timeout of the announcement, which takes a second. */
const NAMING_MS = 5_000

/** The authority to trust. `pages` are the URLs of the trust page, those for other computers first. */
export type Trust = { fingerprint: string; pages: string[] }

/** Opens all sockets or none. Throws the error of the system, with the `address` that failed. */
export async function openListening(options: ListeningOptions) {
  const { config, tls, listAddresses } = options
  const { host } = config
  if (isUnixHost(host)) await removeStaleSocket(host)
  const { main, plain, outside, stopAll } = await openSockets(options)
  const withTls = outside !== null && hasTlsOutside(config) ? [main, outside] : [main]
  tls?.watch.follow(async (pair) => {
    await Promise.all(withTls.map(({ renew }) => renew(pair)))
  })
  const announcement = await openAnnouncement(options, main.port)

  /** Resolves once the name on the local network is announced, refused or timed out. */
  async function addresses(): Promise<{ urls: ServerUrls; trust: Trust | null }> {
    await Promise.race([announcement?.tried, Bun.sleep(NAMING_MS)])
    const scheme = tls === null ? 'http' : 'https'
    const found = urlsOf({ ...main, scheme }, { host, listAddresses })
    // If the announced name is this server's, list it first among the addresses for other computers.
    const isOurs = announcement?.state() === 'announced'
    const named = isOurs ? [`${scheme}://${config.mdns}.local:${main.port}`] : []
    const urls = { ...found, elsewhere: [...named, ...found.elsewhere] }
    return { urls, trust: trustOf(tls, { urls, httpPort: plain?.port ?? null }) }
  }

  async function stop(): Promise<void> {
    tls?.watch.follow(async () => undefined)
    await Promise.all([stopAll(), announcement?.stop()])
  }

  return { port: main.port, addresses, stop }
}

async function openSockets(options: ListeningOptions) {
  const { config, door, tls, metrics, bindings, listAddresses, log } = options
  const { port, httpPort, metricsListen, baseUrl } = config
  const { shed, isLeaving } = door
  const current = tls?.certificate.current() ?? null
  const common = { shed, isLeaving, bindings, listAddresses }
  const opened: { stop(): Promise<void> }[] = []
  const stopAll = () => Promise.all(opened.map(({ stop }) => stop()))
  function keep<T extends { stop(): Promise<void> }>(listener: T): T {
    opened.push(listener)
    return listener
  }
  function openOutside({ handle, shed }: NonNullable<Door['outside']>) {
    const { address, port } = splitAddress(config.receiveListen)
    const outside = keep(
      listen({
        ...{ ...common, handle, shed, bindings: [{ address }], port },
        tls: hasTlsOutside(config) ? current : null,
        maxRequests: Math.floor(readOpenFilesLimit() / 2),
        flag: '--receive-listen',
      }),
    )
    log.info({ address, port: outside.port, url: config.receiveUrl }, 'serving recipients')
    return outside
  }

  try {
    // Open the metrics first: if a later listener fails, no request is lost here.
    if (metrics !== null && metricsListen !== null) {
      const { url } = keep(listenForMetrics({ address: metricsListen, baseUrl, ...metrics }))
      log.info({ url }, 'serving metrics')
    }
    const main = keep(listen({ ...common, handle: door.handle, port, tls: current }))
    const plain =
      httpPort === null
        ? null
        : keep(listen({ ...common, handle: door.handlePlain, port: httpPort, tls: null }))
    return { main, plain, outside: door.outside && openOutside(door.outside), stopAll }
  } catch (cause) {
    await stopAll()
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
