// Measures the built binary: `npm run bench`, with `-- --million` also on a folder of a million pushes. It only
// reports: the exit code is 0 unless an error occurred.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBlocks } from './bench/blocks.ts'
import { divideCores } from './bench/cores.ts'
import { measureEmptyFolder } from './bench/empty-folder.ts'
import { measureFiles } from './bench/files.ts'
import { measureFullFolder } from './bench/full-folder.ts'
import { measureBare } from './bench/loads.ts'
import { describeMachine } from './bench/page.ts'
import { measurePages } from './bench/pages.ts'
import { measurePostgres } from './bench/postgres.ts'
import { createReport } from './bench/report.ts'
import { createSandbox, type Sandbox } from './bench/sandbox.ts'
import { measureScaling } from './bench/scaling.ts'
import { startBare } from './bench/servers.ts'
import { measureSteps } from './bench/steps.ts'
import { measureTls } from './bench/tls.ts'

const USAGE = `npm run bench -- [options]
  --seconds N    how long each load lasts (8)
  --files        also send files of a gigabyte, alone and eight at once (needs 10 GiB)
  --million      also fill the folder with a million pushes and measure again
  --postgres     measure nodes over PostgreSQL beside a server with SQLite, and a bucket; with --million also when full
  --pushes N     another number than a million; implies --million
  --report FILE  where the page with plots is written (dist/bench.html)
  --dir FOLDER   where the temporary folder is made (the system's place for such)
  --binary FILE  what is measured (dist/oncebox)`

interface Options {
  readonly seconds: number
  readonly pushes: number | undefined
  readonly files: boolean
  readonly postgres: boolean
  readonly parent: string | undefined
  readonly binary: string
  readonly page: string
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '8' },
      files: { type: 'boolean', default: false },
      postgres: { type: 'boolean', default: false },
      million: { type: 'boolean', default: false },
      pushes: { type: 'string' },
      dir: { type: 'string' },
      report: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'bench.html') },
      binary: { type: 'string', default: defaultBinary() },
    },
  })
  const pushes = values.pushes ?? (values.million ? '1000000' : undefined)
  return {
    seconds: positive('--seconds', values.seconds),
    pushes: pushes === undefined ? undefined : positive('--pushes', pushes),
    files: values.files,
    postgres: values.postgres,
    parent: values.dir,
    binary: values.binary,
    page: values.report,
  }
}

function defaultBinary(): string {
  return join(import.meta.dir, '..', 'dist', process.platform === 'win32' ? 'oncebox.exe' : 'oncebox')
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!(Number.isFinite(value) && value >= 1))
    throw new Error(`${flag} takes a number of 1 or more, not ${text}`)
  return value
}

async function measure(sandbox: Sandbox, options: Options): Promise<void> {
  const { binary, seconds, pushes, files, postgres, page } = options
  const cores = divideCores()
  const report = createReport()
  console.log(`${cores.description}; 64 connections, ${seconds} s a load; data in ${sandbox.folder}`)
  if (sandbox.inMemory)
    console.log('That folder is in memory, where an fsync costs nothing: choose another with --dir.')

  const bare = await startBare({ sandbox, prefix: cores.serverPrefix })
  // The bare server's first seconds are its slowest, so they are not used for comparison.
  await measureBare(bare)
  report.addRow({ what: 'bare Bun.serve', result: await measureBare(bare) })
  const stage = { binary, seconds, sandbox, cores, report, bare }
  try {
    const served = await measureEmptyFolder(stage)
    if (postgres) {
      await served.server.stop()
      await measurePostgres(stage, { pushes, parent: options.parent })
      return
    }
    await measureTls(stage, served)
    await measurePages(stage, served)
    await measureBlocks(stage, served)
    await measureScaling(stage, pushes)
    report.addSteps(await measureSteps(sandbox))
    if (pushes === undefined) await served.server.stop()
    else await measureFullFolder(stage, { served, pushes })
    await bare.stop()
    if (files) await measureFiles(stage)
  } finally {
    report.print()
    await Bun.write(page, report.page(describeMachine(cores.description)))
    console.log(`\nThe report with plots is ${page}`)
  }
}

async function main(): Promise<number> {
  let options: Options
  try {
    options = readOptions()
    if (!existsSync(options.binary)) throw new Error(`${options.binary} does not exist: npm run build`)
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n\n${USAGE}`)
    return 2
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
