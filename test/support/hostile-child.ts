// Sends each hostile body to an Oncebox of its own, and prints for each the most milliseconds of processor time that a turn of
// the event loop took. Other requests wait for that long.

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

const api = await startApi()
const turns: Record<string, number> = {}
for (const [name, make] of Object.entries(HOSTILE_BODIES)) {
  const { type, body } = make(BYTES)
  Bun.gc(true)
  turns[name] = await longestTurn(() =>
    api.fetch('/api/v2/pushes', {
      method: 'POST',
      headers: { 'content-type': type },
      body,
      from: '127.0.0.1',
    }),
  )
}
console.log(JSON.stringify(turns))
await api.stop()
process.exit(0)
