// Servers on a socket of this machine: a whole Oncebox in this process, or one that behaves as a test wants.

import { startInstance } from './instance.ts'

export type SocketServer = { url: string; stop(): void }

export function serveFake(answer: (request: Request) => Response | Promise<Response>): SocketServer {
  // No answer is too late: a busy machine may need longer for one than Bun waits.
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}

/** An instance, and the address that clients speak to. */
export async function startOnSocket(options: Parameters<typeof startInstance>[0] = {}) {
  const instance = await startInstance(options)
  const server = serveFake((request) => {
    const url = new URL(request.url)
    return instance.fetch(request.url, {
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), host: url.host },
      ...(request.body === null ? {} : { body: request.body }),
      from: '127.0.0.1',
    })
  })
  const close = async () => {
    server.stop()
    await instance.close()
  }
  return { ...instance, url: server.url, close }
}
