// Runs a checkpoint while connections have taken every file descriptor of this process: `bun
// few-files-child.ts DATABASE` prints the result.

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { openLogEmptier } from '../../src/store/sqlite/disk-threads.ts'

const [path = ''] = process.argv.slice(2)
const emptier = openLogEmptier(path)
const taken: number[] = []
try {
  for (;;) taken.push(openSync(devNull, 'r'))
} catch {
  console.log(await emptier.empty())
}
for (const descriptor of taken) closeSync(descriptor)
await emptier.close()
process.exit(0)
