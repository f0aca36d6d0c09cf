// Measures the built binary and prints a Markdown table: `npm run bench`. It only reports: the exit code is 0
// unless an error occurred.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { divideCores } from './bench/cores.ts'
import { measureFiles } from './bench/files.ts'
import {
  measureAmong,
  measureLoadedMemory,
  measureNewFolder,
  measurePages,
  measureTls,
  startSubjects,
} from './bench/folder.ts'
import { measureHostile } from './bench/hostile.ts'
import type { Bench } from './bench/measure.ts'
import { type PlottedLoad, renderPage } from './bench/plots.ts'
import { measurePostgres } from './bench/postgres.ts'
import { createSandbox, type Sandbox } from './bench/sandbox.ts'
import { startBare } from './bench/servers.ts'
import { measureSlowDisk } from './bench/slow-disk.ts'
import { measureStarts } from './bench/starts.ts'
import { describeMachine, formatTable, type Row } from './bench/table.ts'

const DIST = join(import.meta.dir, '..', 'dist')
const BINARY = join(DIST, process.platform === 'win32' ? 'oncebox.exe' : 'oncebox')

/** The minimum number of pushes. With fewer, some would get their last view during the retrievals. */
const FEWEST_AMONG = 20_000

const USAGE = `npm run bench -- [options]
  --against FILE    measure another binary too, in turns with this one, and print a column for each
  --slow-disk MS    also measure on a disk that takes so much longer for each sync; may be given several times
  --million         measure memory after a million requests
  --files           also send files of a gigabyte, alone and eight at once (needs 10 GiB)
  --postgres        also measure one node and two over PostgreSQL
  --among N         how many pushes a folder is filled with (1000000)
  --seconds N       how long each load lasts in each of its three rounds (3)
  --dir FOLDER      where the temporary folder is made (the system's place for such)
  --binary FILE     what is measured (dist/oncebox)`

interface Options {
  readonly binaries: readonly string[]
  readonly slowDisks: readonly number[]
  readonly million: boolean
  readonly files: boolean
  readonly postgres: boolean
  readonly among: number
  readonly seconds: number
  readonly parent: string | undefined
}

/** Returns null when only help is asked for. */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      against: { type: 'string' },
      'slow-disk': { type: 'string', multiple: true, default: [] },
      million: { type: 'boolean', default: false },
      files: { type: 'boolean', default: false },
      postgres: { type: 'boolean', default: false },
      among: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '3' },
      dir: { type: 'string' },
      binary: { type: 'string', default: BINARY },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const { binary, against, million, files, postgres } = values
  return {
    binaries: [
      findBinary('--binary', binary),
      ...(against === undefined ? [] : [findBinary('--against', against)]),
    ],
    slowDisks: values['slow-disk'].map((text) => atLeast('--slow-disk', text, 1)),
    among: atLeast('--among', values.among, FEWEST_AMONG),
    seconds: atLeast('--seconds', values.seconds, 1),
    parent: values.dir,
    ...{ million, files, postgres },
  }
}

function findBinary(flag: string, path: string): string {
  if (!existsSync(path)) throw new Error(`${flag}: there is no file ${path}`)
  return resolve(path)
}

function atLeast(flag: string, text: string, least: number): number {
  const value = Number(text)
  if (!(Number.isInteger(value) && value >= least))
    throw new Error(`${flag} takes a whole number of ${least} or more, not ${text}`)
  return value
}

async function measure(sandbox: Sandbox, options: Options): Promise<void> {
  const { binaries, seconds } = options
  const cores = divideCores()
  const rows: Row[] = []
  const loads: PlottedLoad[] = []
  const bench: Bench = {
    ...{ binaries, seconds, sandbox, cores },
    bare: await startBare({ sandbox, prefix: cores.serverPrefix }),
    sent: new Map(),
    addRow: (row) => void rows.push(row),
    addLoad: (name, result) => void loads.push({ name, result }),
  }
  if (sandbox.inMemory)
    console.error('The temporary folder is in memory, where a sync costs nothing: choose another with --dir.')
  try {
    await measureAll(bench, options)
  } finally {
    const machine = describeMachine(cores.description)
    const table = formatTable(rows, binaries)
    console.log(`\n${table}\n\n${machine}`)
    const page = join(DIST, 'bench.html')
    await Bun.write(page, renderPage({ machine, table, loads }))
    console.error(`\nThe same with plots: ${page}`)
  }
}

async function measureAll(bench: Bench, options: Options): Promise<void> {
  const { among, slowDisks, million } = options
  const fresh = await startSubjects(bench, { name: 'new' })
  await measureNewFolder(bench, fresh)
  await measureAmong(bench, { fresh, among })
  await measureTls(bench, fresh)
  for (const milliseconds of slowDisks) await measureSlowDisk(bench, milliseconds)
  await measurePages(bench, fresh)
  await measureStarts(bench)
  await measureLoadedMemory(bench, { subjects: fresh, untilMillion: million })
  await measureHostile(bench, fresh)
  for (const { server } of fresh) await server.stop()
  if (options.files) await measureFiles(bench)
  if (options.postgres) await measurePostgres(bench, options.parent)
}

async function main(): Promise<number> {
  let options: Options | null
  try {
    options = readOptions()
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n\n${USAGE}`)
    return 2
  }
  if (options === null) {
    console.log(USAGE)
    return 0
  }
  const sandbox = createSandbox(options.parent)
  try {
    await measure(sandbox, options)
    return 0
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : cause)
    return 1
  } finally {
    await sandbox.close()
  }
}

process.exit(await main())
