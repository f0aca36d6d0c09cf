// Announces this server on the local network by multicast DNS (RFC 6762), as NAME.local.

import { getResponder } from '@homebridge/ciao'
import type { Log } from './log.ts'

export type Announcement = {
  /** conflict: another machine has the name, so nothing is announced. failed: the network did not let us. */
  state(): 'starting' | 'announced' | 'conflict' | 'failed'
  /** Takes the name back from the network. */
  stop(): Promise<void>
}

export type AnnouncementOptions = {
  /** Without `.local`. */
  name: string
  port: number
  isTls: boolean
  /** Whether the server listens on IPv6 as well. */
  isIpv6: boolean
  log: Pick<Log, 'info' | 'error'>
}

export function announce({ name, port, isTls, isIpv6, log }: AnnouncementOptions): Announcement {
  let state: ReturnType<Announcement['state']> = 'starting'
  const responder = getResponder()
  const service = responder.createService({
    name,
    hostname: name,
    type: isTls ? 'https' : 'http',
    port,
    disabledIpv6: !isIpv6,
  })

  /** Certificate and links depend on the name, so another name than the chosen one is never announced. */
  function giveUp(): void {
    if (state === 'conflict') return
    state = 'conflict'
    log.error(
      { name: `${name}.local` },
      'another machine on this network has this name: nothing is announced. Choose another one with --mdns',
    )
    void responder.shutdown()
  }

  service.on('name-change', giveUp)
  service.on('hostname-change', giveUp)
  service
    .advertise()
    .then(() => {
      if (state !== 'starting') return
      state = 'announced'
      log.info({ name: `${name}.local` }, 'announced on the local network')
    })
    .catch((err: unknown) => {
      if (state === 'conflict') return
      state = 'failed'
      log.error({ err }, 'the name could not be announced on the local network')
    })
  return { state: () => state, stop: () => responder.shutdown() }
}
