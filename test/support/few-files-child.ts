// Empties the log of a database while all but two file descriptors of this process are taken, and again once they are free:
// `bun few-files-child.ts DATABASE` prints both results.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { openLogEmptier } from '../../src/store/sqlite/engine/disk-threads.ts'

const [path = ''] = process.argv.slice(2)
const emptier = openLogEmptier(path)
const taken: number[] = []
try {
  for (;;) taken.push(openSync(devNull, 'r'))
} catch {
  // With so few to spare, Bun would end this process when a thread starts.
  for (const descriptor of taken.splice(-2)) closeSync(descriptor)
}
const before = await emptier.empty()
for (const descriptor of taken) closeSync(descriptor)
console.log(before, await emptier.empty())
await emptier.close()
process.exit(0)
