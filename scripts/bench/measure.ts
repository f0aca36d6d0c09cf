// Measures rates: the loads of a row run in turn, for several rounds, because the speed of a shared machine
// varies.

import { basename } from 'node:path'
import type { Cores } from './cores.ts'
import { type LoadResult, type Requests, runLoad } from './load.ts'
import { workedMilliseconds } from './processes.ts'
import type { Sandbox } from './sandbox.ts'
import type { Running } from './servers.ts'
import { formatRate, median, type Row } from './table.ts'
import type { Wanted } from './targets.ts'

export const CONNECTIONS = 64
export const ROUNDS = 3
const WARM_UP_SECONDS = 1

export interface Bench {
  readonly binaries: readonly string[]
  /** How long each load lasts in a round. */
  readonly seconds: number
  readonly sandbox: Sandbox
  readonly cores: Cores
  readonly bare: Running
  /** The results of each server, by its process. */
  readonly sent: Map<number, number>
  addRow(row: Row): void
  /** Adds a line to the plots. */
  addLoad(name: string, result: LoadResult): void
}

interface Round {
  readonly result: LoadResult
  /** Processor time of the servers for each request; undefined on systems that do not report it. */
  readonly microseconds: number | undefined
}

/** The results of all rounds of each load. */
async function inTurns(bench: Bench, loads: readonly Requests[]): Promise<Map<Requests, Round[]>> {
  const rounds = new Map(loads.map((load) => [load, [] as Round[]]))
  for (const load of rounds.keys()) await run(bench, load, WARM_UP_SECONDS)
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [load, ofLoad] of rounds) ofLoad.push(await run(bench, load, bench.seconds))
  return rounds
}

async function run({ sent }: Bench, load: Requests, seconds: number): Promise<Round> {
  const { server, others = [] } = load
  const before = workOf([server, ...others])
  const result = withoutErrors(await runLoad({ ...load, connections: CONNECTIONS, until: { seconds } }))
  const after = workOf([server, ...others])
  sent.set(server.pid, (sent.get(server.pid) ?? 0) + result.requests)
  if (before === undefined || after === undefined) return { result, microseconds: undefined }
  return { result, microseconds: ((after - before) * 1000) / result.requests }
}

function workOf(servers: readonly { pid: number }[]): number | undefined {
  const works = servers.flatMap(({ pid }) => workedMilliseconds(pid) ?? [])
  return works.length < servers.length ? undefined : works.reduce((sum, work) => sum + work, 0)
}

export async function runRequests(load: Requests, requests: number): Promise<void> {
  if (requests > 0) withoutErrors(await runLoad({ ...load, connections: CONNECTIONS, until: { requests } }))
}

/** Returns the result. Throws if it has errors, which would make the rate meaningless. */
export function withoutErrors(result: LoadResult): LoadResult {
  if (result.errors > 0) throw new Error(`${result.errors} requests failed, first: ${result.firstError}`)
  return result
}

interface Measured<Of> {
  readonly what: string
  readonly wanted?: Wanted
  /** The values of the binaries, in their order. */
  readonly of: readonly Of[]
}

/** Adds a row of the rates of loads as shares of the rates of others, compared within each round. */
export async function measureShares(
  bench: Bench,
  { what, wanted, of }: Measured<{ load: Requests; base: Requests }>,
): Promise<void> {
  console.error(`… ${what}`)
  const rounds = await inTurns(
    bench,
    of.flatMap(({ base, load }) => [base, load]),
  )
  const cells = of.map(({ load, base }, n) => {
    const own = rounds.get(load) ?? []
    const others = rounds.get(base) ?? []
    plotLast(bench, nameOf(bench, what, n), own)
    const shares = own.map(({ result }, round) => result.rate / (others[round]?.result.rate ?? 0))
    const rates = `${formatRate(rateOf(own))} of ${formatRate(rateOf(others))} a second`
    return { measured: median(shares) * 100, remark: `${rates}, ${details(own)}${shareOfWork(own, others)}` }
  })
  bench.addRow({ what, unit: '%', wanted, cells })
}

/** Adds a row of the rates of loads. */
export async function measureRates(bench: Bench, { what, wanted, of }: Measured<Requests>): Promise<void> {
  console.error(`… ${what}`)
  const rounds = await inTurns(bench, of)
  const cells = of.map((load, n) => {
    const own = rounds.get(load) ?? []
    plotLast(bench, nameOf(bench, what, n), own)
    return { measured: rateOf(own), remark: details(own) }
  })
  bench.addRow({ what, unit: '/s', wanted, cells })
}

function plotLast(bench: Bench, name: string, rounds: readonly Round[]): void {
  const last = rounds.at(-1)
  if (last !== undefined) bench.addLoad(name, last.result)
}

function nameOf({ binaries }: Bench, what: string, n: number): string {
  return n === 0 ? what : `${what} (${basename(binaries[n] ?? '')})`
}

function rateOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ result }) => result.rate))
}

function details(rounds: readonly Round[]): string {
  const p99 = `p99 ${median(rounds.map(({ result }) => result.latencies.percentile(0.99))).toFixed(1)} ms`
  const work = workOfEach(rounds)
  return work === undefined ? p99 : `${p99}, ${work.toFixed(0)} µs of processor time each`
}

/** Returns the ratio by CPU time, which is steady even if other programs compete with the servers. */
function shareOfWork(own: readonly Round[], others: readonly Round[]): string {
  const [work, base] = [workOfEach(own), workOfEach(others)]
  return work === undefined || base === undefined ? '' : `, ${((base / work) * 100).toFixed(1)} % by that`
}

/** In microseconds per request. */
function workOfEach(rounds: readonly Round[]): number | undefined {
  const known = rounds.flatMap(({ microseconds }) => microseconds ?? [])
  return known.length === 0 ? undefined : median(known)
}
