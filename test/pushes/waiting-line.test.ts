// A queue for slow tasks: how many run, which wait, which are refused.

import { expect, test } from 'bun:test'
import { createNamedLines, createWaitingLine } from '../../src/pushes/waiting-line.ts'

const clientOf = (address: string) => (address === 'loopback' ? null : address)

function open(atOnce = 1) {
  const line = createWaitingLine({ atOnce, clientOf })
  const done: string[] = []
  const gates: (() => void)[] = []
  /** A task that ends when its gate is opened. */
  const ask = (address: string) =>
    line
      .inLine(address, () => new Promise<void>((resolve) => gates.push(resolve)))
      .then(() => {
        done.push(address)
        return 'done'
      })
      .catch((cause) => cause.code)
  async function finish() {
    while (line.count().running > 0) {
      gates.shift()?.()
      await Bun.sleep(0)
    }
  }
  return { line, done, ask, finish }
}

const times = (count: number, address: string) => Array.from({ length: count }, () => address)

test('tasks run in the order of arrival, with bounded concurrency', async () => {
  const { line, done, ask, finish } = open(2)
  const asked = ['a', 'a', 'b', 'a', 'c'].map(ask)
  await Bun.sleep(0)
  expect(line.count()).toEqual({ waiting: 3, running: 2 })
  await finish()
  expect(await Promise.all(asked)).toEqual(times(5, 'done'))
  expect(done).toEqual(['a', 'a', 'b', 'a', 'c'])
  expect(line.count()).toEqual({ waiting: 0, running: 0 })
})

test('a flood from one address gets twelve slots, and another address still finds one', async () => {
  for (const flooding of ['192.0.2.1', 'loopback']) {
    const { done, ask, finish } = open()
    const flood = times(100, flooding).map(ask)
    const other = ask('198.51.100.7')
    await finish()
    expect((await Promise.all(flood)).filter((outcome) => outcome === 'overloaded')).toHaveLength(87)
    expect([await other, done.at(-1)]).toEqual(['done', '198.51.100.7'])
  }
})

test('32 tasks of many addresses may wait', async () => {
  const { ask, finish } = open()
  const asked = Array.from({ length: 40 }, (_, n) => ask(`192.0.2.${n}`))
  await finish()
  expect(await Promise.all(asked)).toEqual([...times(33, 'done'), ...times(7, 'overloaded')])
})

test('a failed task frees its slot', async () => {
  const { inLine, count } = createWaitingLine({ atOnce: 1, clientOf })
  const failing = inLine('a', async () => {
    throw new Error('failed')
  })
  const next = inLine('a', async () => 'next')
  await expect(failing).rejects.toThrow('failed')
  expect([await next, count()]).toEqual(['next', { waiting: 0, running: 0 }])
})

test('tasks of one name run one after another, those of different names concurrently', async () => {
  const inTurn = createNamedLines(clientOf)
  const steps: string[] = []
  const work = (name: string) => async (hasWaited: boolean) => {
    steps.push(`${name} begins${hasWaited ? ' after a wait' : ''}`)
    await Bun.sleep(1)
    steps.push(`${name} ends`)
  }
  await Promise.all([
    inTurn('one', 'a', work('1')),
    inTurn('one', 'a', work('2')),
    inTurn('other', 'a', work('3')),
  ])
  expect(steps.indexOf('2 begins after a wait')).toBeGreaterThan(steps.indexOf('1 ends'))
  expect(steps.indexOf('3 begins')).toBeLessThan(steps.indexOf('1 ends'))
})

test('tasks of the listener for recipients fill at most half of the queue', async () => {
  const { inLine, inHalf, count } = createWaitingLine({ atOnce: 1, clientOf })
  const { promise, resolve } = Promise.withResolvers<void>()
  const wait = () => promise
  const tasks = Array.from({ length: 17 }, (_, n) => inHalf(`192.0.2.${n}`, wait))
  expect(count()).toEqual({ waiting: 16, running: 1 })
  await expect(inHalf('198.51.100.1', wait)).rejects.toThrow('busy')
  tasks.push(...Array.from({ length: 16 }, (_, n) => inLine(`192.0.2.${n}`, wait)))
  await expect(inLine('198.51.100.1', wait)).rejects.toThrow('busy')
  resolve()
  await Promise.all(tasks)
  expect(count()).toEqual({ waiting: 0, running: 0 })
})
