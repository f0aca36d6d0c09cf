// The name on the local network: announced while it is ours, and tried again after another machine had it.

import { afterEach, expect, test } from 'bun:test'
import { type Announcement, announce } from '../../src/lan/mdns.ts'
import { joinMulticast, MDNS, multicast } from '../support/multicast.ts'
import { waitUntil } from '../support/waiting.ts'

/** TEST-NET-3, which no machine has. */
const CLAIMANT = '203.0.113.77'

if (multicast === null) console.log('skipped: this machine has no network that multicast goes through')

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Builds a response with one record of the type A, which replaces others in caches (RFC 1035). */
function addressAnswer(name: string): Buffer {
  const labels = [name, 'local', ''].map((label) => Buffer.from(`\0${label}`))
  for (const label of labels) label[0] = label.length - 1
  const header = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0]
  const [type, classAndFlush, seconds, length] = [
    [0, 1],
    [0x80, 1],
    [0, 0, 0, 120],
    [0, 4],
  ]
  const address = CLAIMANT.split('.').map(Number)
  return Buffer.concat([
    Buffer.from(header),
    ...labels,
    Buffer.from([type, classAndFlush, seconds, length, address].flat()),
  ])
}

/** Starts another machine that answers for a name. */
async function claim(name: string) {
  const socket = await joinMulticast(multicast ?? '')
  const packet = addressAnswer(name)
  const say = () => socket.send(packet, MDNS.port, MDNS.group)
  socket.on('message', (message) => {
    // Answer questions only, not its own answers.
    if (message.readUInt16BE(2) < 0x8000 && message.includes(name)) say()
  })
  const leave = () => new Promise<void>((resolve) => socket.close(() => resolve()))
  return { say, leave }
}

function start(name: string, times: { retryMs?: number } = { retryMs: 500 }) {
  const lines: { message: string; fields: object }[] = []
  const note = (fields: object, message: string) => void lines.push({ fields, message })
  const announcement: Announcement = announce({
    name,
    port: 5100,
    isTls: true,
    listAddresses: () => [multicast ?? ''],
    log: { info: note, error: note } as never,
    lookEveryMs: 100,
    ...times,
  })
  stops.push(announcement.stop)
  return { announcement, lines }
}

const newName = () => `t-${crypto.randomUUID().slice(0, 8)}`

test.if(multicast !== null)('a free name is announced', async () => {
  const { announcement, lines } = start(newName())
  await announcement.tried
  expect(announcement.state()).toBe('announced')
  expect(lines.map(({ message }) => message)).toEqual(['announced on the local network'])
})

test.if(multicast !== null)(
  'a name of another machine is reported once, with its address, and announced when it becomes free',
  async () => {
    const name = newName()
    const other = await claim(name)
    const { announcement, lines } = start(name)
    await announcement.tried
    expect(announcement.state()).toBe('conflict')
    await waitUntil(() => announcement.state() === 'waiting')
    await waitUntil(() => announcement.state() === 'conflict')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.message).toStartWith('another server on this network has this name')
    expect(lines[0]?.fields).toMatchObject({ name: `${name}.local`, claimant: CLAIMANT })
    await other.leave()
    await waitUntil(() => announcement.state() === 'announced')
    expect(lines.at(-1)?.message).toBe('announced on the local network')
  },
)

test.if(multicast !== null)('a name that another machine claims later is given up', async () => {
  const name = newName()
  const { announcement, lines } = start(name)
  await announcement.tried
  const other = await claim(name)
  stops.push(other.leave)
  other.say()
  await waitUntil(() => announcement.state() === 'conflict')
  expect(lines.at(-1)?.fields).toMatchObject({ claimant: CLAIMANT })
})

test.if(multicast !== null)(
  'forged answers silence the name for ten seconds, not for minutes',
  async () => {
    const name = newName()
    const { announcement } = start(name, {})
    await announcement.tried
    const forger = await claim(name)
    for (let n = 0; n < 5; n += 1) forger.say()
    await waitUntil(() => announcement.state() === 'conflict')
    await forger.leave()
    const silentFrom = performance.now()
    await waitUntil(() => announcement.state() === 'announced')
    expect(performance.now() - silentFrom).toBeLessThan(15_000)
  },
  30_000,
)
