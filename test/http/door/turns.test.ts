import { expect, test } from 'bun:test'
import { createTurns } from '../../../src/http/door/turns.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('requests of one turn continue in a row, step by step, after the turn', async () => {
  const inTurn = createTurns()
  const done: string[] = []
  const serve = async (name: string) => {
    await inTurn()
    done.push(`${name} read`)
    await null
    done.push(`${name} answered`)
  }
  const served = ['a', 'b'].map(serve)
  await Promise.resolve()
  expect(done).toEqual([])
  await Promise.all(served)
  expect(done).toEqual(['a read', 'b read', 'a answered', 'b answered'])
})

test('at most 64 requests continue per turn, in the order of their arrival', async () => {
  const inTurn = createTurns()
  const done: number[] = []
  const come = (number: number) => inTurn().then(() => done.push(number))
  for (let number = 0; number < 65; number += 1) void come(number)
  await nextTurn()
  expect(done.length).toBe(64)
  await Promise.all([come(65), come(66)])
  expect(done.slice(64)).toEqual([64, 65, 66])
})
