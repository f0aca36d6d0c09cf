// Slow work in a bounded queue: who waits, who is refused, and who is next.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSharedLanes } from '../../src/services/lanes.ts'
import { createWaitingLine } from '../../src/services/waiting-line.ts'

type Named = { network: string; client: string; subject: string; name: string }

function lineWith(names: string[], limits = { maxWaiting: 32, maxOfClient: 8 }) {
  const line = createWaitingLine<Named>(limits)
  const left = names.map((name) => line.add(place(name))?.name ?? null)
  const order: string[] = []
  for (let next = line.takeNext(); next !== null; next = line.takeNext()) order.push(next.name)
  return { left, order }
}

/** `a/1#2` is the second work of client a on subject 1; `net:a/1#2` names its network too, else the client is alone in it. */
function place(name: string): Named {
  const [client = '', subject = ''] = name.split(/[/#]/)
  return { network: client.split(':', 1)[0] ?? '', client, subject, name }
}

const many = (client: string, count: number, subject = 'x') =>
  Array.from({ length: count }, (_, n) => `${client}/${subject}#${n}`)

test('clients take turns, no matter how much work each has', () => {
  const { order } = lineWith([...many('a', 4), 'b/x#0', 'c/x#0', 'b/x#1'])
  expect(order).toEqual(['a/x#0', 'b/x#0', 'c/x#0', 'a/x#1', 'b/x#1', 'a/x#2', 'a/x#3'])
})

test('the subjects of one client take turns too', () => {
  const { order } = lineWith([...many('a', 3, 'x'), 'a/y#0', 'b/x#0', 'a/y#1'])
  expect(order).toEqual(['a/x#0', 'b/x#0', 'a/y#0', 'a/x#1', 'a/y#1', 'a/x#2'])
})

test('a client above its limit loses the latest work of its largest subject', () => {
  const { left, order } = lineWith([...many('a', 9), 'a/y#0', ...many('b', 2)])
  expect(left.filter((name) => name !== null)).toEqual(['a/x#8', 'a/x#7'])
  expect(order).toContain('a/y#0')
})

test('in a full queue a new client displaces the one with the most work', () => {
  const names = [...many('a', 8), ...many('b', 8), ...many('c', 8), ...many('d', 8), 'e/x#0']
  const { left, order } = lineWith(names)
  expect(left.filter((name) => name !== null)).toHaveLength(1)
  expect(left.at(-1)).toMatch(/#7$/)
  expect(order.slice(0, 5)).toContain('e/x#0')
})

test('in a queue full of clients with one work each, a new client displaces the one served last', () => {
  const line = createWaitingLine<Named>({ maxWaiting: 4, maxOfClient: 2 })
  for (const name of ['a/x#0', 'b/x#0', 'c/x#0', 'd/x#0']) expect(line.add(place(name))).toBeNull()
  expect(line.takeNext()?.name).toBe('a/x#0')
  expect(line.takeNext()?.name).toBe('b/x#0')
  for (const name of ['a/x#1', 'b/x#1']) expect(line.add(place(name))).toBeNull()
  expect(line.add(place('new/x#0'))?.name).toBe('b/x#1')
  expect(line.add(place('b/x#2'))?.name).toBe('b/x#2')
})

test('a network of many addresses displaces its own work, not that of another network', () => {
  const line = createWaitingLine<Named>({ maxWaiting: 8, maxOfClient: 2 })
  for (let n = 0; n < 8; n += 1) line.add(place(`net:${n}/x#0`))
  expect(line.add(place('new/x#0'))?.name).toStartWith('net:')
  for (let n = 8; n < 30; n += 1) expect(line.add(place(`net:${n}/x#0`))?.name).toStartWith('net:')
})

test('for any input the limits hold, and no work is lost or started twice', () => {
  const names = fc.array(fc.tuple(fc.constantFrom(...'abcdef'), fc.constantFrom(...'xyz')), { maxLength: 80 })
  fc.assert(
    fc.property(names, (some) => {
      const all = some.map(([client, subject], n) => `${client}/${subject}#${n}`)
      const { left, order } = lineWith(all, { maxWaiting: 12, maxOfClient: 5 })
      const refused = left.filter((name) => name !== null)
      expect([...order, ...refused].sort()).toEqual([...all].sort())
      expect(order.length).toBeLessThanOrEqual(12)
      for (const client of 'abcdef')
        expect(order.filter((name) => name.startsWith(client)).length).toBeLessThanOrEqual(5)
      // A client that was served waits until all other waiting clients have been served.
      const ofFirst = order.findLastIndex((name) => name[0] === order[0]?.[0])
      const clients = new Set(order.map((name) => name[0]))
      if (ofFirst > 0) expect(new Set(order.slice(0, clients.size).map((name) => name[0]))).toEqual(clients)
    }),
  )
})

test('a flood from one address is partly refused, and another address waits for at most two works', async () => {
  const done: string[] = []
  const { first, second } = createSharedLanes({
    lanes: 1,
    clientOf: (address) => ({ client: address, network: address }),
  })
  const work = (name: string) => async () => {
    await Bun.sleep(1)
    done.push(name)
  }
  const flood = Array.from({ length: 100 }, () =>
    second({ address: '192.0.2.1', about: 'creating' }, work('flood')).catch((cause) => cause.code),
  )
  const asked = second({ address: '198.51.100.7', about: 'push 1' }, work('asked'))
  const signIn = first({ address: '192.0.2.1', about: 'account 1' }, work('sign-in'))
  const refused = (await Promise.all(flood)).filter((code) => code !== undefined)
  await Promise.all([asked, signIn])
  expect(refused).toEqual(Array(87).fill('overloaded'))
  expect(done.indexOf('asked')).toBeLessThan(5)
  expect(done.indexOf('sign-in')).toBeLessThan(3)
})
