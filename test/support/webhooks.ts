// A receiver of webhooks on loopback, which records messages and answers as the test decides.

import { createHmac } from 'node:crypto'

export type Received = { method: string; path: string; headers: Headers; body: string }

export type WebhookReceiver = Awaited<ReturnType<typeof startReceiver>>

/** `answer` may wait, or never resolve. */
export async function startReceiver(answer: (received: Received) => Response | Promise<Response> = accept) {
  const received: Received[] = []
  const waiting: (() => void)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const one = {
        ...{ method: request.method, path: pathname + search, headers: request.headers },
        body: await request.text(),
      }
      received.push(one)
      for (const wake of waiting.splice(0)) wake()
      return answer(one)
    },
  })

  /** Resolves when this many messages have arrived. */
  async function waitFor(count: number): Promise<Received[]> {
    while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    return received
  }

  return {
    host: `127.0.0.1:${server.port}`,
    url: (path = '/hook') => `http://127.0.0.1:${server.port}${path}`,
    received,
    waitFor,
    close: () => server.stop(true),
  }
}

export const accept = () => new Response(null, { status: 204 })

/** Whether the signature is valid by https://www.standardwebhooks.com. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const signature = createHmac('sha256', key).update(signed).digest('base64')
  return headers.get('webhook-signature') === `v1,${signature}`
}
