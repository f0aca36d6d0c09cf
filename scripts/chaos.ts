// Breaks dependencies of several nodes under load: `npm run chaos`, for hours if you like. The exit code is 1
// if a promise was broken.

import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createDraw } from '../src/selftest/load.ts'
import { BINARY } from '../test/support/binary.ts'
import { openOffice } from '../test/support/nodes.ts'
import { bucket, silentBucket } from './chaos/bucket.ts'
import { clocks } from './chaos/clocks.ts'
import { commits } from './chaos/commits.ts'
import { database } from './chaos/database.ts'
import { kills } from './chaos/kills.ts'
import { network } from './chaos/network.ts'
import { buildNextVersion } from './chaos/next-version.ts'
import { readers } from './chaos/readers.ts'
import type { Scenario } from './chaos/scenario.ts'
import { upgrade } from './chaos/upgrade.ts'
import { findPostgres } from './programs.ts'

const SCENARIOS: readonly Scenario[] = [
  readers,
  kills,
  database,
  network,
  commits,
  clocks,
  bucket,
  silentBucket,
  upgrade,
]
const RECOVERY_MS = 5_000
const MAX_FAULTS_SHOWN = 10

const USAGE = `npm run chaos -- [options] [scenario…]
Starts PostgreSQL, a bucket and nodes of dist/oncebox on this machine, and breaks them under load. PostgreSQL writes to the
disk of the temporary folder, and waits for it.
  --rounds N   how often each thing happens (each scenario has its own number)
  --nodes N    how many nodes (3)
  --seed N     what is drawn at random (a new one each time)
  --list       only name the scenarios
Scenarios:
${SCENARIOS.map(({ name, what, rounds }) => `  ${name.padEnd(13)}  ${what} (${rounds} ${rounds === 1 ? 'round' : 'rounds'})`).join('\n')}`

type Options = { scenarios: readonly Scenario[]; rounds: number | null; nodes: number; seed: number }

/** Returns null when only help is asked for. */
function readOptions(): Options | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      nodes: { type: 'string', default: '3' },
      seed: { type: 'string', default: `${Date.now() % 1e9}` },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help || values.list) return null
  const unknown = positionals.find((name) => SCENARIOS.every((scenario) => scenario.name !== name))
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}`)
  const scenarios = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  return {
    scenarios,
    rounds: values.rounds === undefined ? null : positive('--rounds', values.rounds),
    nodes: positive('--nodes', values.nodes),
    seed: positive('--seed', values.seed),
  }
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!(Number.isInteger(value) && value >= 1)) throw new Error(`${flag} takes a whole number, not ${text}`)
  return value
}

/** Runs a scenario. Resolves to whether all promises were kept. */
async function run(scenario: Scenario, { rounds, nodes, seed }: Options): Promise<boolean> {
  console.log(`\n${scenario.name}: ${scenario.what} (seed ${seed})`)
  const otherBinary = scenario === upgrade ? await buildNextVersion() : BINARY
  const office = await openOffice({ nodes, isDurable: true, ...scenario.office })
  const began = performance.now()
  try {
    const { tried, faults } = await scenario.run({
      office,
      rounds: rounds ?? scenario.rounds,
      draw: createDraw(seed),
      pauseMs: 0,
      recoveryMs: RECOVERY_MS,
      otherBinary,
      onStep: (step) => console.log(`  … ${step}`),
    })
    console.log(`  ${tried}, in ${Math.round((performance.now() - began) / 1000)} s`)
    for (const fault of faults.slice(0, MAX_FAULTS_SHOWN)) console.log(`  FAULT: ${fault}`)
    if (faults.length > MAX_FAULTS_SHOWN) console.log(`  and ${faults.length - MAX_FAULTS_SHOWN} more`)
    console.log(faults.length === 0 ? '  kept' : '  BROKEN')
    return faults.length === 0
  } finally {
    await office.close()
  }
}

async function main(): Promise<number> {
  let options: Options | null
  try {
    options = readOptions()
    if (!existsSync(BINARY)) throw new Error('dist/oncebox is missing: npm run build')
    if (findPostgres() === null) throw new Error('PostgreSQL is missing: apt-get install postgresql')
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n\n${USAGE}`)
    return 2
  }
  if (options === null) {
    console.log(USAGE)
    return 0
  }
  const kept: boolean[] = []
  for (const scenario of options.scenarios) kept.push(await run(scenario, options))
  const broken = kept.filter((isKept) => !isKept).length
  console.log(`\n${kept.length - broken} kept, ${broken} broken`)
  return broken === 0 ? 0 : 1
}

process.exit(await main())
