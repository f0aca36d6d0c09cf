// The first stage: start, memory, creates and retrieves on a new data folder.

import { join } from 'node:path'
import { runLoad } from './load.ts'
import { type Beside, CONNECTIONS, createsLoad, measureFirstAnswer, retrievesLoad } from './loads.ts'
import { residentMebibytes } from './memory.ts'
import { VIEWS_USED } from './requests.ts'
import { type Running, startOncebox } from './servers.ts'
import { judgeLoadedMemory, measureRow, type Served, type Stage, watchMemoryOf } from './stage.ts'
import { targets } from './targets.ts'
import { createTokenList } from './token-list.ts'

const STARTS = 3
const IDLE_MILLISECONDS = 2000
const RETRIEVED_AT_LEAST = 20_000
/** Retrieves a second that no machine is expected to reach; the pushes that are needed are reckoned with it. */
const HIGHEST_RATE = 60_000

export async function measureEmptyFolder(stage: Stage): Promise<Served> {
  const { server, dataDir } = await measureStart(stage)
  watchMemoryOf(server)
  await judgeIdleMemory(stage, server)

  const tokens = createTokenList()
  const create = createsLoad(server, tokens)
  const creates = await measureRow(stage, { what: 'creates', load: create, target: inWords(targets.creates) })
  judgeRate(stage, { what: 'creates', measured: creates, limit: targets.creates })

  const needed = pushesNeeded(stage.seconds)
  const missing = Math.max(0, needed - tokens.count())
  if (missing > 0) await runLoad({ ...create, connections: CONNECTIONS, until: { requests: missing } })
  const retrieve = retrievesLoad(server, { tokens, pick: inTurn(Math.min(tokens.count(), needed)) })
  const retrieves = await measureRow(stage, {
    what: 'retrieves',
    load: retrieve,
    target: inWords(targets.retrieves),
  })
  judgeRate(stage, { what: 'retrieves', measured: retrieves, limit: targets.retrieves })

  const served = {
    server,
    dataDir,
    tokens,
    requests: creates.requests + missing + retrieves.requests,
    createRate: creates.result.rate,
    retrieveRate: retrieves.result.rate,
    retrieveShare: retrieves.result.rate / retrieves.bareRate,
  }
  judgeLoadedMemory(stage, served)
  return served
}

/** Starts on several new folders, for the median. The last server keeps running. */
async function measureStart(stage: Stage): Promise<{ server: Running; dataDir: string }> {
  console.error('… start on a new data folder')
  const times: number[] = []
  while (true) {
    const dataDir = join(stage.sandbox.folder, `data-${times.length}`)
    const { sandbox, binary, cores } = stage
    const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix })
    times.push(await measureFirstAnswer(server))
    if (times.length === STARTS) {
      const measured = times.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)]
      const remark = `median of ${times.map((time) => time.toFixed(0)).join(', ')}`
      const what = 'first answer after a start on a new folder'
      stage.report.judge({ what, measured, unit: 'ms', limit: targets.firstAnswer, remark })
      return { server, dataDir }
    }
    await server.stop()
  }
}

async function judgeIdleMemory(stage: Stage, server: Running): Promise<void> {
  await Bun.sleep(IDLE_MILLISECONDS)
  const measured = residentMebibytes(server.pid)
  stage.report.judge({ what: 'memory when idle', measured, unit: 'MiB', limit: targets.idleMemory })
}

function judgeRate(
  stage: Stage,
  of: { what: string; measured: Beside; limit: { atLeast: number; aim: number } },
): void {
  const { result, bareRate } = of.measured
  const measured = (result.rate / bareRate) * 100
  stage.report.judge({ what: `${of.what}, of the bare rate`, measured, unit: '%', limit: of.limit })
  const p99 = result.latencies.percentile(0.99)
  stage.report.judge({ what: `p99 of ${of.what}`, measured: p99, unit: 'ms', limit: targets.p99 })
}

function inWords(limit: { atLeast: number; aim: number }): string {
  return `${limit.atLeast} (aim ${limit.aim})`
}

/** Enough pushes that none loses its last view while they are retrieved in turn. */
export function pushesNeeded(seconds: number): number {
  return Math.max(RETRIEVED_AT_LEAST, Math.ceil((seconds * HIGHEST_RATE) / VIEWS_USED))
}

export function inTurn(count: number): () => number {
  let turn = 0
  return () => turn++ % count
}
