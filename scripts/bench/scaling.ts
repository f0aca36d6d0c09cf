// How the rates change with the number of pushes: the same loads on a growing folder.

import { join } from 'node:path'
import { runLoad } from './load.ts'
import { CONNECTIONS, createsLoad, retrievesLoad } from './loads.ts'
import { startOncebox } from './servers.ts'
import type { Stage } from './stage.ts'
import { createTokenList } from './token-list.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
/** The largest size without --million. */
const USUAL_SIZE = 10_000
const SECONDS = 2

export async function measureScaling(stage: Stage, asked: number | undefined): Promise<void> {
  const largest = asked ?? USUAL_SIZE
  const { sandbox, binary, cores, report } = stage
  const dataDir = join(sandbox.folder, 'data-scaling')
  const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix })
  const tokens = createTokenList()
  const create = createsLoad(server, tokens)
  const creates: [number, number][] = []
  const retrieves: [number, number][] = []
  for (const size of SIZES.filter((wanted) => wanted <= largest)) {
    console.error(`… scaling: ${size.toLocaleString('en')} pushes`)
    const missing = size - tokens.count()
    if (missing > 0) await runLoad({ ...create, connections: CONNECTIONS, until: { requests: missing } })
    // Its requests are as wide as the tokens that are there.
    const pick = () => Math.floor(Math.random() * tokens.count())
    const retrieve = retrievesLoad(server, { tokens, pick })
    const x = Math.log10(tokens.count())
    retrieves.push([x, (await run(retrieve)).rate])
    creates.push([x, (await run(create)).rate])
  }
  await server.stop()
  report.addPlot({
    title: 'Scaling',
    x: 'pushes in the folder, as a power of ten',
    y: 'answers a second',
    series: [
      { name: 'creates', points: creates },
      { name: 'retrieves', points: retrieves },
    ],
  })
}

function run(load: ReturnType<typeof createsLoad>) {
  return runLoad({ ...load, connections: CONNECTIONS, until: { seconds: SECONDS } })
}
