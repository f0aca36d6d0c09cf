// The memory that bodies and answers share, and its limits.

import { expect, test } from 'bun:test'
import { type BodyRoom, createBodyRoom } from '../../../src/http/door/body-room.ts'
import type { Exchange } from '../../../src/http/door/exchange.ts'

const MIB = 1024 * 1024
const clientOf = (address: string) => (address === 'loopback' ? null : address)
const from = (clientAddress: string, { startedAt = 0, endBody = null as (() => void) | null } = {}) =>
  ({ clientAddress, heldBytes: 0, startedAt, endBody }) as Exchange
const openRoom = (maxBytes = 6 * MIB) => createBodyRoom({ maxBytes, clientOf })
const BUSY = 'busy with large requests'

test('a client may fill its share, and all clients together the whole room', () => {
  const room = openRoom()
  for (let n = 0; n < 10; n += 1) room.take(from('a'), 6 * MIB)
  expect(() => room.take(from('a'), 6 * MIB)).toThrow(BUSY)
  for (let n = 0; n < 10; n += 1) room.take(from('b'), 6 * MIB)
  expect(() => room.take(from('b'), 6 * MIB)).toThrow(BUSY)
  room.take(from('c'), 6 * MIB)
  expect(() => room.take(from('c'), 6 * MIB)).toThrow(BUSY)
})

test('a small body always has room', () => {
  const room = openRoom()
  for (let n = 0; n < 20; n += 1) room.take(from('loopback'), 6.4 * MIB)
  expect(() => room.take(from('d'), 6 * MIB)).toThrow(BUSY)
  for (let n = 0; n < 1000; n += 1) room.take(from('d'), 16 * 1024)
})

/** Makes a body that has been arriving for this long. */
function arriving(address: string, forMs: number, bytes: number) {
  const body = { hasEnded: false, exchange: from(address, { startedAt: performance.now() - forMs }) }
  body.exchange.endBody = () => {
    body.hasEnded = true
  }
  return { body, take: (room: BodyRoom) => room.take(body.exchange, bytes) }
}

test('if the room is full, the slowest body gives way to a faster one', () => {
  const room = openRoom()
  const slow = Array.from({ length: 21 }, (_, n) => arriving(`fe80::${n}`, 10_000 + 1000 * n, 6 * MIB))
  for (const { take } of slow) take(room)
  arriving('192.0.2.8', 10, 3 * MIB).take(room)
  expect(slow.map(({ body }) => body.hasEnded)).toEqual([...Array<boolean>(20).fill(false), true])
  expect(slow[20]?.body.exchange.heldBytes).toBe(0)
})

test('a body that needs more room is refused itself if it is the slowest', () => {
  const room = openRoom()
  const fast = Array.from({ length: 21 }, (_, n) => arriving(`fe80::${n}`, 10, 6 * MIB))
  for (const { take } of fast) take(room)
  expect(() => arriving('192.0.2.8', 10_000, 3 * MIB).take(room)).toThrow(BUSY)
  expect(fast.some(({ body }) => body.hasEnded)).toBe(false)
})

test('a body that has arrived keeps its room', () => {
  const room = openRoom()
  for (let n = 0; n < 21; n += 1) room.take(from(`fe80::${n}`), 6 * MIB)
  expect(() => arriving('192.0.2.8', 1, 3 * MIB).take(room)).toThrow(BUSY)
})

test('unread answers leave room for bodies', () => {
  const room = openRoom()
  const answer = (n: number) => () => room.takeForAnswer(from(`fe80::${n}`), 6 * MIB)
  for (let n = 0; n < 16; n += 1) answer(n)()
  expect(answer(16)).toThrow(BUSY)
  for (let n = 0; n < 5; n += 1) room.take(from('192.0.2.8'), 6 * MIB)
})

test('released room can be reserved again', () => {
  const room = openRoom()
  for (let round = 0; round < 100; round += 1) {
    const [whole, pieces] = [from('a'), from('a')]
    room.take(whole, 30 * MIB)
    for (let n = 0; n < 300; n += 1) room.take(pieces, 100 * 1024)
    expect(() => room.take(pieces, 6 * MIB)).toThrow(BUSY)
    room.giveBack(whole)
    room.giveBack(pieces)
    room.giveBack(pieces)
  }
  room.take(from('a'), 64 * MIB)
})

test('a body of the maximum size has room', () => {
  const room = openRoom(600 * MIB)
  room.take(from('a'), 600 * MIB)
  room.take(from('b'), 600 * MIB)
  expect(() => room.take(from('c'), MIB)).toThrow(BUSY)
})

test('large bodies are decoded in turn, and other requests run in between', async () => {
  const { turn } = openRoom()
  const order: string[] = []
  const other = () => {
    order.push('other')
    waiting = setImmediate(other)
  }
  let waiting = setImmediate(other)
  await Promise.all(
    ['first', 'second', 'third'].map(async (name) => order.push(await turn().then(() => name))),
  )
  clearImmediate(waiting)
  const bodies = order.filter((one) => one !== 'other')
  expect(bodies).toEqual(['first', 'second', 'third'])
  expect(order.slice(order.indexOf('first'))).toEqual(['first', 'other', 'second', 'other', 'third'])
})

test('reserving room for an answer is idempotent, and its final size counts', () => {
  const room = openRoom()
  const answers = Array.from({ length: 64 }, () => from('a'))
  for (const answer of [...answers, ...answers]) room.takeForAnswer(answer, MIB + 16 * 1024)
  expect(() => room.takeForAnswer(from('a'), MIB)).toThrow(BUSY)
  for (const answer of answers) room.holdAnswer(answer, 3 * MIB)
  expect(() => room.takeForAnswer(from('b'), MIB)).toThrow(BUSY)
  for (const answer of answers) room.giveBack(answer)
  room.take(from('a'), 64 * MIB)
})

test('requests of the listener for recipients hold at most half of the room, and end only slower ones of the same listener', () => {
  const room = openRoom()
  const outside = (address: string, forMs: number) => {
    const body = arriving(address, forMs, 6 * MIB)
    return Object.assign(body, { exchange: Object.assign(body.body.exchange, { isOutside: true }) })
  }
  const inside = arriving('192.0.2.1', 1_000_000, 6 * MIB)
  inside.take(room)
  const half = Array.from({ length: 10 }, (_, n) => outside(`fe80::${n}`, 10_000 + n))
  for (const { take } of half) take(room)
  expect(() => outside('192.0.2.8', 1_000_000).take(room)).toThrow(BUSY)
  outside('192.0.2.9', 1).take(room)
  expect(half.map(({ body }) => body.hasEnded)).toEqual([...Array<boolean>(9).fill(false), true])
  expect(inside.body.hasEnded).toBe(false)
  for (let n = 0; n < 9; n += 1) arriving(`192.0.2.${n + 20}`, 1, 6 * MIB).take(room)
})

test('loopback has a share of the room like any client if it comes by the listener for recipients', () => {
  const room = openRoom()
  const take = () => room.take(Object.assign(from('loopback'), { isOutside: true }), 6 * MIB)
  for (let n = 0; n < 10; n += 1) take()
  expect(take).toThrow(BUSY)
})
