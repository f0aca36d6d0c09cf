// A TCP proxy between browsers and a server that records every byte in both directions.

import { type AddressInfo, connect, createServer } from 'node:net'
import type { Place } from './needles.ts'

/** `host`: the name by which browsers reach it. */
export async function startRecordingWire(port: number, host = 'localhost') {
  const sent: Buffer[] = []
  const received: Buffer[] = []
  const wire = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes) => {
      sent.push(Buffer.from(bytes))
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      received.push(Buffer.from(bytes))
      client.write(bytes)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve))
  const { port: own } = wire.address() as AddressInfo
  return {
    url: `http://${host}:${own}`,
    places: (): Place[] => [
      { where: 'sent by browsers', bytes: Buffer.concat(sent) },
      { where: 'sent by the server', bytes: Buffer.concat(received) },
    ],
    close: () => wire.close(),
  }
}
