// The common part of the stages of the benchmark: their environment, and running a load for the report.

import type { Cores } from './cores.ts'
import { type Beside, measureBeside, type Requests } from './loads.ts'
import { residentMebibytes } from './memory.ts'
import type { Report } from './report.ts'
import type { Sandbox } from './sandbox.ts'
import type { Running } from './servers.ts'
import { targets } from './targets.ts'
import type { TokenList } from './token-list.ts'

export interface Stage {
  readonly binary: string
  /** How long each load lasts. */
  readonly seconds: number
  readonly sandbox: Sandbox
  readonly cores: Cores
  readonly report: Report
  readonly bare: Running
}

/** A server with the pushes in its folder, as one stage leaves it to the next. */
export interface Served {
  readonly server: Running
  readonly dataDir: string
  readonly tokens: TokenList
  /** The number of requests sent to it so far. */
  readonly requests: number
  readonly createRate: number
  readonly retrieveRate: number
  /** Of the bare rate beside it. */
  readonly retrieveShare: number
}

export async function measureRow(
  stage: Stage,
  row: { what: string; load: Requests; target: string },
): Promise<Beside> {
  console.error(`… ${row.what}`)
  const memory = sampleMemory(stage, row.what)
  const measured = await measureBeside(stage.bare, { load: row.load, seconds: stage.seconds })
  memory.stop()
  const { result, bareRate } = measured
  stage.report.addRow({ what: row.what, result, bareRate, target: row.target })
  stage.report.judge({
    what: `errors in ${row.what}`,
    measured: result.errors,
    unit: '',
    limit: targets.errors,
  })
  return measured
}

const SAMPLE_MILLISECONDS = 250
let servedPid: number | null = null

/** Starts to record this server's memory. */
export function watchMemoryOf(server: Running): void {
  servedPid = server.pid
}

function sampleMemory({ report }: Stage, what: string) {
  const points: [number, number][] = []
  const started = performance.now()
  const timer = setInterval(() => {
    const mebibytes = servedPid === null ? undefined : residentMebibytes(servedPid)
    if (mebibytes !== undefined) points.push([(performance.now() - started) / 1000, mebibytes])
  }, SAMPLE_MILLISECONDS)
  return {
    stop: () => {
      clearInterval(timer)
      report.addMemory({ name: what, points })
    },
  }
}

export function judgeLoadedMemory(stage: Stage, served: Served): void {
  const requests = served.requests.toLocaleString('en')
  stage.report.judge({
    what: `memory after ${requests} requests`,
    measured: residentMebibytes(served.server.pid),
    unit: 'MiB',
    limit: targets.loadedMemory,
    ...(served.requests < 1e6 ? { remark: 'the target is for a million: --million' } : {}),
  })
}
