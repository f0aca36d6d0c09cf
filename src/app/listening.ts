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

/** `trust`: the authority that devices have to trust, and the pages that show how; null without an own authority. */
export type Addresses = { urls: ServerUrls; trust: Trust | null }

export type Listening = {
  port: number
  /** Resolves when it is known whether the name on the local network is ours, after seconds at the most. */
  addresses(): Promise<Addresses>
  stop(): Promise<void>
}

/** Opens all or none. Throws the error of the system, with the `address` that failed. */
export async function openListening(options: ListeningOptions): Promise<Listening> {
  const { config, tls } = options
  if (isUnixHost(config.host)) await removeStaleSocket(config.host)
  const main = listenFor(options, { port: config.port, isPlain: false })
  tls?.watch.follow(main.renew)
  const plain = await openPlain(options, main.stop)
  const announcement = await openAnnouncement(options, main.port)
  return {
    port: main.port,
    addresses: async () => {
      await Promise.race([announcement?.tried, Bun.sleep(NAMING_MS)])
      const urls = urlsFor(options, { main, announcement })
      return { urls, trust: trustOf(tls, { urls, httpPort: plain?.port ?? null }) }
    },
    stop: async () => {
      tls?.watch.follow(async () => undefined)
      await Promise.all([main.stop(), plain?.stop(), announcement?.stop()])
    },
  }
}

type Opened = { main: Listener; announcement: Announcement | null }

/** The URLs of the server. The announced name comes first among those for other computers, if it is ours. */
function urlsFor(
  { config, tls, listAddresses }: ListeningOptions,
  { main, announcement }: Opened,
): ServerUrls {
  const scheme = tls === null ? 'http' : 'https'
  const urls = urlsOf({ ...main, scheme }, { host: config.host, listAddresses })
  const isOurs = announcement?.state() === 'announced'
  const named = isOurs ? [`${scheme}://${config.mdns}.local:${main.port}`] : []
  return { ...urls, elsewhere: [...named, ...urls.elsewhere] }
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

function listenFor(options: ListeningOptions, { port, isPlain }: { port: number; isPlain: boolean }) {
  const { door, tls, bindings, listAddresses } = options
  const { handle, handlePlain, shed, isLeaving } = door
  return listen({
    handle: isPlain ? handlePlain : handle,
    tls: isPlain || tls === null ? null : tls.certificate.current(),
    shed,
    isLeaving,
    bindings,
    port,
    listAddresses,
  })
}

async function openPlain(options: ListeningOptions, stopMain: () => Promise<void>) {
  const { httpPort } = options.config
  if (httpPort === null) return null
  try {
    return listenFor(options, { port: httpPort, isPlain: true })
  } catch (cause) {
    await stopMain()
    throw cause
  }
}

async function openAnnouncement(options: ListeningOptions, port: number): Promise<Announcement | null> {
  const { config, tls, listAddresses, log } = options
  if (config.mdns === null) return null
  // Loaded only when needed: few servers announce themselves.
  const { announce } = await import('../lan/mdns.ts')
  return announce({ name: config.mdns, port, isTls: tls !== null, listAddresses, log })
}
