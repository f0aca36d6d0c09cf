// Sends each hostile body to a new Oncebox, and prints for each the longest CPU time in milliseconds of one
// turn of the event loop, for which other requests have to wait. Also prints the time of `loop`, which visits
// each byte of an equally large body. Takes the shortest of three tries, because other programs slow each of
// them down.

import { startApi } from './api.ts'
import { workedMs } from './effort.ts'
import { HOSTILE_BODIES } from './hostile.ts'

const BYTES = 2_000_000

async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = workedMs()
  let isDone = false
  const watch = () => {
    const now = workedMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  watch()
  isDone = true
  return longest
}

function loop(text: string): number {
  let marks = 0
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === 0x5d) marks += 1
  return marks
}

async function leastOfThree(measure: () => Promise<number> | number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < 3; n += 1) least = Math.min(least, await measure())
  return least
}

const api = await startApi()
const turns: Record<string, number> = {}
for (const [name, make] of Object.entries(HOSTILE_BODIES)) {
  const { type, body } = make(BYTES)
  const send = () =>
    api.fetch('/api/v2/pushes', {
      method: 'POST',
      headers: { 'content-type': type },
      body,
      from: '127.0.0.1',
    })
  turns[name] = await leastOfThree(() => {
    Bun.gc(true)
    return longestTurn(send)
  })
}
const text = ']'.repeat(BYTES)
const looped = await leastOfThree(() => {
  const before = workedMs()
  loop(text)
  return workedMs() - before
})
console.log(JSON.stringify({ turns, looped }))
await api.stop()
process.exit(0)
