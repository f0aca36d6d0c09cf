// Who may hold how much of the memory that bodies share.

import { expect, test } from 'bun:test'
import { createBodyRoom } from '../../../src/http/door/body-room.ts'
import type { Exchange } from '../../../src/http/door/exchange.ts'

const MIB = 1024 * 1024
const clientOf = (address: string) => (address === 'loopback' ? null : address)
const from = (clientAddress: string) => ({ clientAddress, heldBytes: 0 }) as Exchange
const openRoom = (maxBytes = 6 * MIB) => createBodyRoom({ maxBytes, clientOf })
const BUSY = 'busy with large requests'

test('each client may take its share, until the whole room is taken', () => {
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

test('a host with many addresses that fills the room leaves room for bodies of up to 128 KiB', () => {
  const room = openRoom()
  const isTaken = (address: string, bytes: number) => {
    try {
      room.take(from(address), bytes)
      return true
    } catch {
      return false
    }
  }
  const largeBodies = Array.from({ length: 100 }, (_, n) => isTaken(`fe80::${n}`, 6 * MIB))
  expect(largeBodies.filter(Boolean).length).toBeLessThan(22)
  for (let n = 0; n < 200; n += 1) isTaken(`fe80::${n}`, 200 * 1024)
  for (let n = 0; n < 100; n += 1) expect(isTaken('192.0.2.8', 60 * 1024)).toBe(true)
  expect(isTaken('192.0.2.9', 128 * 1024)).toBe(true)
})

test('room that was given back is there again, however it was taken', () => {
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

test('one body of the allowed size always has room', () => {
  const room = openRoom(600 * MIB)
  room.take(from('a'), 600 * MIB)
  room.take(from('b'), 600 * MIB)
  expect(() => room.take(from('c'), MIB)).toThrow(BUSY)
})

test('large bodies take turns, and other requests run in between', async () => {
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

test('an answer takes room once, however often it is tried, and holds what it takes in the end', () => {
  const room = openRoom()
  const answers = Array.from({ length: 64 }, () => from('a'))
  for (const answer of [...answers, ...answers]) room.takeForAnswer(answer, MIB + 16 * 1024)
  expect(() => room.takeForAnswer(from('a'), MIB)).toThrow(BUSY)
  for (const answer of answers) room.holdAnswer(answer, 3 * MIB)
  expect(() => room.takeForAnswer(from('b'), MIB)).toThrow(BUSY)
  for (const answer of answers) room.giveBack(answer)
  room.take(from('a'), 64 * MIB)
})
