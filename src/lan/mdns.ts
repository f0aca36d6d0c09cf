// Announces this server on the local network by multicast DNS (RFC 6762), as NAME.local.

import { type CiaoService, getResponder, type Responder } from '@homebridge/ciao'
import ipaddr from 'ipaddr.js'
import { SECOND } from '../domain/time.ts'
import type { Log } from '../operating/log.ts'

export type Announcement = ReturnType<typeof announce>

/** `conflict`: another machine has the name, so nothing is announced. `failed`: the announcement failed. */
type State = 'waiting' | 'announced' | 'conflict' | 'failed'

type AnnouncementOptions = {
  /** The host name, without `.local`. */
  name: string
  port: number
  isTls: boolean
  /** Returns all addresses of this machine. Throws if the system call fails. */
  listAddresses: () => readonly string[]
  log: Pick<Log, 'info' | 'error'>
  /**
   * How long to wait after a conflict or failure. Short, because anyone on the network can forge a conflict;
   * if another machine really has the name, the probes of the next try find it.
   */
  retryMs?: number
  /** How often to check for changed addresses. */
  lookEveryMs?: number
}

/** DNS's number of the record that holds an IPv4 address. */
const A_RECORD = 1

export function announce(options: AnnouncementOptions) {
  const { name, log, retryMs = 10 * SECOND, lookEveryMs = 4 * SECOND } = options
  let state: State = 'waiting'
  let responder: Responder | null = null
  /** The addresses of the latest try. */
  let addresses: readonly string[] = []
  let retryAt = 0
  /** The address in the latest record with this name, and the one that the log has named. */
  let claimant = 'unknown'
  let toldClaimant: string | null = null
  let isStopped = false
  let running = Promise.resolve()
  const then = (step: () => Promise<void>) => {
    running = running.then(step).catch((err: unknown) => {
      state = 'failed'
      retryAt = performance.now() + retryMs
      log.error({ err }, 'the name could not be announced on the local network')
    })
  }

  async function announceAnew(): Promise<void> {
    const found = multicastAddresses(options.listAddresses)
    const isDue = (state === 'conflict' || state === 'failed') && performance.now() >= retryAt
    if (isStopped || (!isDue && found.join() === addresses.join())) return
    await withdraw()
    addresses = found
    state = 'waiting'
    if (found.length === 0) return
    responder = getResponder({ interface: [...found] })
    noteClaims(responder)
    await advertise(responder)
  }

  async function advertise(responder: Responder): Promise<void> {
    const service = responder.createService({
      name,
      hostname: name,
      type: options.isTls ? 'https' : 'http',
      port: options.port,
      // Without a text, the library takes its own announcement for another machine's.
      txt: { path: '/' },
      disabledIpv6: true,
    })
    service.on('name-change', () => giveUp(service))
    service.on('hostname-change', () => giveUp(service))
    await service.advertise()
    // The library reports a conflict while it announces the name.
    if (state !== 'waiting' || isStopped) return
    state = 'announced'
    toldClaimant = null
    log.info({ name: `${name}.local` }, 'announced on the local network')
  }

  /** Records who claims the name, because the library reports a conflict without the other machine. */
  function noteClaims(responder: Responder): void {
    const handleResponse = responder.handleResponse.bind(responder)
    const ours = [`${name}.local.`, `${name}._${options.isTls ? 'https' : 'http'}._tcp.local.`]
    responder.handleResponse = (packet, from) => {
      const records = [...packet.answers.values(), ...packet.additionals.values()]
      const claims = records.filter((record) => ours.includes(record.getLowerCasedName()))
      const address = claims.find(({ type }) => type === A_RECORD)?.dataAsString() ?? from.address
      if (claims.length > 0) claimant = address
      handleResponse(packet, from)
    }
  }

  /**
   * Withdraws the name in a conflict. Never announces another one, because certificate and links depend on
   * it.
   */
  function giveUp(service: CiaoService): void {
    if (state === 'conflict') return
    state = 'conflict'
    retryAt = performance.now() + retryMs
    // The library would otherwise announce another name that it has chosen itself.
    const destroyed = service.destroy()
    then(() => destroyed.then(withdraw))
    if (toldClaimant === claimant) return
    toldClaimant = claimant
    log.error(
      { name: `${name}.local`, claimant },
      'another server on this network has this name: nothing is announced, and the name is tried again every few seconds. ' +
        'Choose another one with --mdns, or free this one there',
    )
  }

  async function withdraw(): Promise<void> {
    const former = responder
    responder = null
    await former?.shutdown()
  }

  then(announceAnew)
  const timer = setInterval(() => then(announceAnew), lookEveryMs)
  return {
    state: () => state,
    /**
     * Resolves when the first try has ended: after a second, or two with a conflict; never on a network that
     * refuses multicast.
     */
    tried: running,
    /** Withdraws the name from the network. */
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      await withdraw()
    },
  }
}

/**
 * The addresses to announce at, in order. They are named one by one, because the library does not recognise
 * the interfaces of containers (`eth0@if7`) by itself.
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
