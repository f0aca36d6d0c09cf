// Hands each request of a socket to the front door, unless the server sheds load.

import type { Secure } from '../answers.ts'
import { UNIX_PEER } from './client-address.ts'
import type { Ending } from './listening-socket.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'

export const IDLE_SECONDS = 30

type Answers = {
  handle: Handle
  shed: Shed
  secure: Secure
  /** Whether the server is about to stop. */
  isLeaving: () => boolean
}

type Peers = { isUnix: boolean; ending: Ending }

/** What a socket calls for each request. */
export function createFetch({ handle, shed, secure, isLeaving }: Answers, { isUnix, ending }: Peers) {
  /** Looks when the answer is ready, because the server may have begun to stop meanwhile. */
  function send(response: Response): Response | Promise<Response> {
    if (ending.closed !== null || isLeaving()) response.headers.set('connection', 'close')
    return ending.closed === null ? response : ending.closed.then(() => response)
  }

  return (request: Request, socket: Bun.Server<undefined>): Response | Promise<Response> => {
    // Bun's own idle timeout would end a connection that sends less than 16 KiB/s.
    const stayOpen = () => socket.timeout(request, IDLE_SECONDS)
    const refusal = shed(request)
    if (refusal === null) {
      const peer = isUnix ? UNIX_PEER : (socket.requestIP(request)?.address ?? '')
      return handle(request, peer, stayOpen).then(send)
    }
    secure(refusal.headers)
    return send(refusal)
  }
}
