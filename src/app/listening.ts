// Opens the sockets of a server: the one it is for, plain http beside TLS, and the name on the local network.

import { type Binding, listen, type Network, type ServerUrls, urlsOf } from '../http/door/listener.ts'
import type { Log } from '../operating/log.ts'
import type { Announcement } from '../operating/mdns.ts'
import type { Certificate } from '../operating/tls/certificate.ts'
import type { CertificateWatch } from '../operating/tls/certificate-watch.ts'
import type { Config } from '../settings/table.ts'
import type { Door } from './door.ts'

export type Tls = { certificate: Certificate; watch: CertificateWatch }

export type ListeningOptions = {
  config: Pick<Config, 'host' | 'port' | 'httpPort' | 'mdns'>
  door: Pick<Door, 'handle' | 'handlePlain' | 'secure' | 'shed'>
  tls: Tls | null
  bindings: readonly Binding[]
  listAddresses: Network['listAddresses']
  log: Log
}

export type Listening = {
  urls: ServerUrls
  port: number
  /** The port of plain http beside TLS. */
  httpPort: number | null
  announcement: Announcement | null
  stop(): Promise<void>
}

/** Opens all or none. Throws the error of the system, with the `address` that failed. */
export async function openListening(options: ListeningOptions): Promise<Listening> {
  const { config, tls } = options
  const main = listenFor(options, { port: config.port, isPlain: false })
  tls?.watch.follow(main.renew)
  const plain = await openPlain(options, main.stop)
  const announcement = await openAnnouncement(options, main.port)
  return {
    urls: urlsOf(
      { ...main, scheme: tls === null ? 'http' : 'https' },
      { host: config.host, listAddresses: options.listAddresses },
    ),
    port: main.port,
    httpPort: plain?.port ?? null,
    announcement,
    stop: async () => {
      tls?.watch.follow(() => undefined)
      await Promise.all([main.stop(), plain?.stop(), announcement?.stop()])
    },
  }
}

function listenFor(options: ListeningOptions, { port, isPlain }: { port: number; isPlain: boolean }) {
  const { door, tls, bindings, listAddresses } = options
  const { handle, handlePlain, secure, shed } = door
  return listen({
    handle: isPlain ? handlePlain : handle,
    tls: isPlain || tls === null ? null : tls.certificate.current(),
    secure,
    shed,
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
  const { config, tls, bindings, log } = options
  if (config.mdns === null) return null
  // Loaded only when needed: few servers announce themselves.
  const { announce } = await import('../operating/mdns.ts')
  const isIpv6 = bindings.some(({ address }) => address.includes(':') && address !== '::1')
  return announce({ name: config.mdns, port, isTls: tls !== null, isIpv6, log })
}
