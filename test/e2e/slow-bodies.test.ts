// Slow bodies from many addresses of one host, over real sockets: they leave memory for other clients'
// bodies.

import { afterAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { createStage } from '../support/binary.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

const KIB = 1024
const MIB = 1024 * KIB
/**
 * Each address from 127.0.0.2 on sends two large bodies and eight small ones, all without their last bytes.
 */
const ADDRESSES = 60
const BODIES = [...Array<number>(2).fill(6 * MIB), ...Array<number>(8).fill(127 * KIB)]

type SlowBody = { socket: Socket; answer: string }

function sendSlowly(port: number, localAddress: string, bytes: number): SlowBody {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const body: SlowBody = { socket, answer: '' }
  socket.on('data', (chunk) => {
    body.answer += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bytes + 1}\r\n\r\n`,
  )
  socket.write('x'.repeat(bytes))
  return body
}

/**
 * Resolves to the status of a create. Retries as `Retry-After` says, because a busy machine may shed a
 * request; the slow bodies would keep their memory for longer than all retries take.
 */
async function createWithin(tries: number, create: () => Promise<Response>): Promise<number> {
  const { status } = await create()
  if (status !== 503 || tries === 1) return status
  await Bun.sleep(1000)
  return createWithin(tries - 1, create)
}

// Other systems have only 127.0.0.1 as loopback address.
test.skipIf(process.platform !== 'linux')(
  'a body that arrives at once finds room while slow ones from many addresses fill it',
  async () => {
    const server = await stage.start()
    const slow = Array.from({ length: ADDRESSES }, (_, n) =>
      BODIES.map((bytes) => sendSlowly(server.port, `127.0.0.${n + 2}`, bytes)),
    ).flat()
    try {
      await waitUntil(() => slow.some(({ answer }) => answer.startsWith('HTTP/1.1 503')))
      await Bun.sleep(1000)
      for (const bytes of [60_000, 120_000, 900_000]) {
        const statuses = await Promise.all(
          Array.from({ length: 10 }, () =>
            createWithin(4, () => server.create({ payload: 'x'.repeat(bytes) })),
          ),
        )
        expect({ bytes, statuses: new Set(statuses) }).toEqual({ bytes, statuses: new Set([201]) })
      }
      const answers = slow.map(({ answer }) => answer.slice(0, 12)).filter((answer) => answer !== '')
      expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 503']))
    } finally {
      for (const { socket } of slow) socket.destroy()
    }
  },
  60_000,
)
