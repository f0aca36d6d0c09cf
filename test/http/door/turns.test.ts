import { expect, test } from 'bun:test'
import { createTurns } from '../../../src/http/door/turns.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('Requests that came in one turn go on in a row, step by step, once the turn is over', async () => {
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

test('Of a crowd only the first 64 go on in a turn, and those that come meanwhile after the others', async () => {
  const inTurn = createTurns()
  const done: number[] = []
  const come = (number: number) => inTurn().then(() => done.push(number))
  for (let number = 0; number < 65; number += 1) void come(number)
  await nextTurn()
  expect(done.length).toBe(64)
  await Promise.all([come(65), come(66)])
  expect(done.slice(64)).toEqual([64, 65, 66])
})
