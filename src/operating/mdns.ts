// Announces this server on the local network by multicast DNS (RFC 6762), as NAME.local.

import { type CiaoService, getResponder, type Responder } from '@homebridge/ciao'
import ipaddr from 'ipaddr.js'
import type { Log } from './log.ts'

export type Announcement = {
  /** conflict: another machine has the name, so nothing is announced. failed: the announcement failed. */
  state(): 'waiting' | 'announced' | 'conflict' | 'failed'
  /** Withdraws the name from the network. */
  stop(): Promise<void>
}

export type AnnouncementOptions = {
  /** Without `.local`. */
  name: string
  port: number
  isTls: boolean
  /** All addresses of this machine; throws when the system call fails. */
  listAddresses: () => readonly string[]
  log: Pick<Log, 'info' | 'error'>
}

/** How often to look whether the machine has other addresses, such as after a cable was plugged in. */
const LOOK_EVERY_MS = 10_000

export function announce(options: AnnouncementOptions): Announcement {
  const { name, log } = options
  let state: ReturnType<Announcement['state']> = 'waiting'
  let announced: { addresses: string; responder: Responder } | null = null
  let running = Promise.resolve()
  const look = () => {
    running = running.then(announceAnew).catch((err: unknown) => {
      state = 'failed'
      log.error({ err }, 'the name could not be announced on the local network')
    })
  }

  /** Does nothing while the addresses are the same, and nothing ever after a conflict. */
  async function announceAnew(): Promise<void> {
    const addresses = multicastAddresses(options.listAddresses)
    if (state === 'conflict' || announced?.addresses === addresses.join()) return
    await announced?.responder.shutdown()
    announced = null
    state = 'waiting'
    if (addresses.length === 0) return
    announced = { addresses: addresses.join(), responder: getResponder({ interface: addresses }) }
    await advertise(announced.responder)
  }

  async function advertise(responder: Responder): Promise<void> {
    const type = options.isTls ? 'https' : 'http'
    const service = responder.createService({
      name,
      hostname: name,
      type,
      port: options.port,
      // Without a text, the library takes its own announcement for another machine's.
      txt: { path: '/' },
      disabledIpv6: true,
    })
    service.on('name-change', () => giveUp(service))
    service.on('hostname-change', () => giveUp(service))
    await service.advertise()
    // The library reports a conflict while it announces the name.
    if (state !== 'waiting') return
    state = 'announced'
    log.info({ name: `${name}.local` }, 'announced on the local network')
  }

  /** Certificate and links depend on the name, so another name than the chosen one is never announced. */
  function giveUp(service: CiaoService): void {
    if (state === 'conflict') return
    state = 'conflict'
    log.error(
      { name: `${name}.local` },
      'another machine on this network has this name: nothing is announced. Choose another one with --mdns',
    )
    // The library would otherwise announce another name that it has chosen itself.
    void service.destroy().then(() => announced?.responder.shutdown())
  }

  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  return {
    state: () => state,
    stop: async () => {
      clearInterval(timer)
      await running
      await announced?.responder.shutdown()
    },
  }
}

/**
 * The addresses to announce at, in order. They are named one by one, because the library does not recognise the interfaces of
 * containers (`eth0@if7`) by itself.
 */
function multicastAddresses(listAddresses: () => readonly string[]): string[] {
  const isOfNetwork = (address: string) => {
    if (!ipaddr.IPv4.isValid(address)) return false
    return !['loopback', 'unspecified'].includes(ipaddr.parse(address).range())
  }
  try {
    return listAddresses().filter(isOfNetwork).sort()
  } catch {
    return []
  }
}
