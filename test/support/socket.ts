// Servers on a local socket: a whole Oncebox in this process, or a fake.

import { startInstance } from './instance.ts'

export type SocketServer = { url: string; stop(): void }

export function serveFake(answer: (request: Request) => Response | Promise<Response>): SocketServer {
  // Turn the timeout off: a busy machine may answer later than Bun's default.
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}

/** Starts an instance. Resolves to it, and the URL for clients. */
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
