// Measures a start: the time to the first answer, processor time, and memory once the server is idle.

import { join } from 'node:path'
import type { Bench } from './measure.ts'
import { residentMebibytes, workedMilliseconds } from './processes.ts'
import { cleanEnvironment, measureFirstAnswer, startOncebox } from './servers.ts'
import { median, type Row } from './table.ts'
import { targets } from './targets.ts'

const STARTS = 5
const IDLE_MILLISECONDS = 2000

type Figures = { first: number; worked: number | undefined; idle: number | undefined }
type Start = { version: number; fresh: Figures; again: Figures }

export async function measureStarts(bench: Bench): Promise<void> {
  console.error('… starts')
  const starts = bench.binaries.map((): Start[] => [])
  for (let round = 0; round < STARTS; round += 1)
    for (const [n, binary] of bench.binaries.entries()) {
      const dataDir = join(bench.sandbox.folder, `start-${n}-${round}`)
      const version = await workOfVersion(bench, binary)
      const fresh = await start(bench, { binary, dataDir })
      starts[n]?.push({ version, fresh, again: await start(bench, { binary, dataDir }) })
    }
  const add = (row: Omit<Row, 'cells'>, figure: (start: Start) => number | undefined) =>
    bench.addRow({ ...row, cells: starts.map((ofBinary) => cellOf(ofBinary.map(figure))) })
  const { firstAnswer, firstAnswerAgain, versionWork, firstSecondWork, idleMemory } = targets
  add({ what: 'first answer in a new folder', unit: 'ms', wanted: firstAnswer }, ({ fresh }) => fresh.first)
  add(
    { what: 'first answer in an existing folder', unit: 'ms', wanted: firstAnswerAgain },
    ({ again }) => again.first,
  )
  add({ what: 'processor time of `--version`', unit: 'ms', wanted: versionWork }, ({ version }) => version)
  add(
    { what: 'processor time of the first second of `serve`', unit: 'ms', wanted: firstSecondWork },
    ({ again }) => again.worked,
  )
  add({ what: 'the same in a new folder', unit: 'ms' }, ({ fresh }) => fresh.worked)
  add({ what: 'resident memory, idle', unit: 'MiB', wanted: idleMemory }, ({ again }) => again.idle)
}

function cellOf(figures: readonly (number | undefined)[]): { measured: number | undefined; remark?: string } {
  const known = figures.filter((figure) => figure !== undefined)
  if (known.length < figures.length) return { measured: undefined }
  return { measured: median(known), remark: `${format(Math.min(...known))} to ${format(Math.max(...known))}` }
}

function format(figure: number): string {
  return figure.toFixed(0)
}

async function start(
  { sandbox, cores }: Bench,
  { binary, dataDir }: { binary: string; dataDir: string },
): Promise<Figures> {
  const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix })
  const first = await measureFirstAnswer(server)
  const until = (milliseconds: number) => Bun.sleep(server.startedAt + milliseconds - performance.now())
  await until(1000)
  const worked = workedMilliseconds(server.pid)
  await until(IDLE_MILLISECONDS)
  const idle = residentMebibytes(server.pid)
  await server.stop()
  return { first, worked, idle }
}

async function workOfVersion({ sandbox, cores }: Bench, binary: string): Promise<number> {
  const command = [...cores.serverPrefix, binary, '--version']
  const child = sandbox.adopt(Bun.spawn(command, { stdout: 'ignore', env: cleanEnvironment() }))
  await child.exited
  return Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000
}
