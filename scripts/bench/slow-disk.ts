// Measures how long a request that needs no disk waits while 64 readers use a slow disk, and how many views
// per second these readers reach.

import { join } from 'node:path'
import { buildPreload } from '../../test/support/preload.ts'
import { type LoadResult, runLoad } from './load.ts'
import { type Bench, CONNECTIONS, ROUNDS, runRequests, withoutErrors } from './measure.ts'
import { creates, createTokens, gets, retrieves } from './requests.ts'
import { startOncebox } from './servers.ts'
import { median } from './table.ts'
import { targets, type Wanted } from './targets.ts'

const PUSHES = 3_000
const PAUSE_MILLISECONDS = 3

type Slow = { readers: () => Promise<LoadResult>; probe: () => Promise<LoadResult>; stop(): Promise<void> }
type Round = { readers: LoadResult; probe: LoadResult }
type SlowTargets = { p50?: Wanted; p99?: Wanted; retrieves?: Wanted }

export async function measureSlowDisk(bench: Bench, milliseconds: number): Promise<void> {
  const disk = `with ${milliseconds} ms a sync`
  console.error(`… ${disk}`)
  const library = buildPreload(join(import.meta.dir, 'slow-disk.c'), bench.sandbox.folder)
  if (library === null) {
    const reason = 'it takes Linux and a C compiler'
    const cells = bench.binaries.map(() => ({ measured: undefined, remark: reason }))
    bench.addRow({ what: `retrieves ${disk}`, unit: '/s', cells })
    return
  }
  const environment = { LD_PRELOAD: library, SYNC_MS: `${milliseconds}` }
  const servers = await Promise.all(
    bench.binaries.map((binary, n) =>
      startSlow(bench, { binary, name: `slow-${milliseconds}-${n}`, environment }),
    ),
  )
  const rounds = servers.map((): Round[] => [])
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [n, { readers, probe }] of servers.entries()) {
      const [ofReaders, ofProbe] = await Promise.all([readers(), probe()])
      rounds[n]?.push({ readers: ofReaders, probe: ofProbe })
    }
  for (const server of servers) await server.stop()
  addRows(bench, { disk, rounds, wanted: wantedFor(milliseconds) })
}

async function startSlow(
  { sandbox, cores, seconds }: Bench,
  from: { binary: string; name: string; environment: Record<string, string> },
): Promise<Slow> {
  const server = await startOncebox({
    sandbox,
    binary: from.binary,
    dataDir: join(sandbox.folder, from.name),
    prefix: cores.serverPrefix,
    env: from.environment,
  })
  const tokens = createTokens()
  await runRequests(creates(server, tokens), PUSHES)
  const until = { seconds }
  const reading = { ...retrieves(server, tokens), connections: CONNECTIONS, until }
  const probing = {
    ...gets(server, '/robots.txt'),
    connections: 1,
    until,
    pauseMilliseconds: PAUSE_MILLISECONDS,
  }
  return {
    readers: async () => withoutErrors(await runLoad(reading)),
    probe: async () => withoutErrors(await runLoad(probing)),
    stop: server.stop,
  }
}

function addRows(bench: Bench, of: { disk: string; rounds: readonly Round[][]; wanted: SlowTargets }): void {
  const { disk, rounds, wanted } = of
  const cellsOf = (figure: (round: Round) => number) =>
    rounds.map((ofBinary) => ({ measured: median(ofBinary.map(figure)) }))
  bench.addRow({
    what: `retrieves ${disk}`,
    unit: '/s',
    wanted: wanted.retrieves,
    cells: cellsOf(({ readers }) => readers.rate),
  })
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const)
    bench.addRow({
      what: `${name} of \`/robots.txt\` beside them`,
      unit: 'ms',
      wanted: wanted[name],
      cells: cellsOf(({ probe }) => probe.latencies.percentile(share)),
    })
}

function wantedFor(milliseconds: number): SlowTargets {
  if (milliseconds === 5 || milliseconds === 20) return targets.slowDisk[milliseconds]
  return {}
}
