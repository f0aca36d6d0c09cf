// The second stage: the same loads again with a million live pushes in the folder, owners' lists, and a start with it.

import { addOwners } from './accounts.ts'
import { runLoad } from './load.ts'
import { CONNECTIONS, createsLoad, measureFirstAnswer, measureLists, retrievesLoad } from './loads.ts'
import { createRequest } from './requests.ts'
import { startOncebox } from './servers.ts'
import { settle } from './settle.ts'
import { judgeLoadedMemory, measureRow, type Served, type Stage } from './stage.ts'
import { targets } from './targets.ts'

const OWNERS = 5
const PUSHES_OF_AN_OWNER = 1000
const FILLED_AT_ONCE = 50_000
const BYTES_OF_A_PUSH = 4096

export async function measureFullFolder(
  stage: Stage,
  from: { served: Served; pushes: number },
): Promise<void> {
  const { served, pushes } = from
  const { server, dataDir, tokens } = served
  if (stage.sandbox.freeBytes() < pushes * BYTES_OF_A_PUSH) {
    throw new Error(
      `${stage.sandbox.folder} has too little space for ${pushes} pushes: choose another with --dir`,
    )
  }
  const { sandbox, binary } = stage
  const apiTokens = await addOwners({ sandbox, binary, dataDir }, OWNERS)
  const filled = await fill({ served, pushes, apiTokens })
  await settle(server)

  const what = ` with ${tokens.count().toLocaleString('en')} pushes`
  const retrieve = retrievesLoad(server, { tokens, pick: () => Math.floor(Math.random() * tokens.count()) })
  const retrieves = await measureRow(stage, { what: `retrieves${what}`, load: retrieve, target: '' })
  const create = createsLoad(server, tokens)
  const creates = await measureRow(stage, { what: `creates${what}`, load: create, target: '' })
  judgeAgainst(stage, {
    what: `retrieves${what}`,
    rates: [retrieves.result.rate, served.retrieveRate],
    limit: targets.fullRetrieves,
  })
  judgeAgainst(stage, {
    what: `creates${what}`,
    rates: [creates.result.rate, served.createRate],
    limit: targets.fullCreates,
  })

  const lists = await judgeLists(stage, { server, apiTokens })
  const requests = served.requests + filled + retrieves.requests + creates.requests + lists
  judgeLoadedMemory(stage, { ...served, requests })
  await judgeStart(stage, served)
}

/** Creates until the folder holds so many pushes; those of the owners lie scattered among the anonymous ones. */
async function fill(from: { served: Served; pushes: number; apiTokens: readonly string[] }): Promise<number> {
  const { server, tokens } = from.served
  const missing = Math.max(from.pushes - tokens.count(), OWNERS * PUSHES_OF_AN_OWNER)
  const anonymous = createRequest(server.port)
  const owned = from.apiTokens.map((apiToken) => createRequest(server.port, apiToken))
  const distance = Math.floor(missing / (OWNERS * PUSHES_OF_AN_OWNER))
  let turn = 0
  function next(): Buffer {
    turn += 1
    const owner = turn % distance === 0 ? owned[(turn / distance) % OWNERS] : undefined
    return owner ?? anonymous
  }

  for (let left = missing; left > 0; left -= FILLED_AT_ONCE) {
    const until = { requests: Math.min(left, FILLED_AT_ONCE) }
    const load = { port: server.port, connections: CONNECTIONS, until, next, accept: tokens.addFrom }
    const { rate, errors, firstError } = await runLoad(load)
    if (errors > 0) throw new Error(`filling the folder met ${errors} errors: ${firstError}`)
    console.error(
      `… ${tokens.count().toLocaleString('en')} pushes, ${Math.round(rate).toLocaleString('en')}/s`,
    )
  }
  return missing
}

function judgeAgainst(
  stage: Stage,
  of: { what: string; rates: [number, number]; limit: { atLeast: number } },
): void {
  const [full, empty] = of.rates
  const measured = (full / empty) * 100
  stage.report.judge({
    what: `${of.what}, of the rate on a new folder`,
    measured,
    unit: '%',
    limit: of.limit,
  })
}

async function judgeLists(
  stage: Stage,
  from: { server: Served['server']; apiTokens: readonly string[] },
): Promise<number> {
  const result = await measureLists(from.server, from.apiTokens)
  stage.report.addRow({ what: "first page of an owner's list", result })
  const measured = result.latencies.percentile(0.99)
  const remark = `p99 of ${result.requests}, one at a time`
  stage.report.judge({
    what: "first page of an owner's list",
    measured,
    unit: 'ms',
    limit: targets.firstPage,
    remark,
  })
  stage.report.judge({ what: 'errors in lists', measured: result.errors, unit: '', limit: targets.errors })
  return result.requests
}

async function judgeStart(stage: Stage, served: Served): Promise<void> {
  await served.server.stop()
  const { sandbox, binary, cores } = stage
  const again = await startOncebox({ sandbox, binary, dataDir: served.dataDir, prefix: cores.serverPrefix })
  const measured = await measureFirstAnswer(again)
  const what = 'first answer after a start on the full folder'
  stage.report.judge({ what, measured, unit: 'ms', limit: targets.fullStart })
  await again.stop()
}
