// Hands each request of a socket to the front door, unless the server sheds load.

import { UNIX_PEER } from './client-address.ts'
import type { Secure } from './security-headers.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'
import type { Retiring } from './tls-socket.ts'

export const IDLE_SECONDS = 30

type Answers = {
  handle: Handle
  shed: Shed
  secure: Secure
  /** Whether the server is about to stop. */
  isLeaving: () => boolean
}

type Peers = { isUnix: boolean; retiring: Retiring | undefined }

/** What a socket calls for each request. */
export function createFetch({ handle, shed, secure, isLeaving }: Answers, { isUnix, retiring }: Peers) {
  const ending = (response: Response) => {
    response.headers.set('connection', 'close')
    return response
  }
  return (request: Request, socket: Bun.Server<undefined>): Response | Promise<Response> => {
    // Bun's own idle timeout would end a connection that sends less than 16 KiB/s.
    const stayOpen = () => socket.timeout(request, IDLE_SECONDS)
    const refusal = shed(request)
    if (refusal === null) {
      const peer = isUnix ? UNIX_PEER : (socket.requestIP(request)?.address ?? '')
      const answer = handle(request, peer, stayOpen)
      return retiring?.isRetiring || isLeaving() ? answer.then(ending) : answer
    }
    secure(refusal.headers)
    return refusal
  }
}
