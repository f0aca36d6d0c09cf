// Benchmarks files: uploads and downloads a gigabyte, alone and eight at once, and compares with plain file
// access.

import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { download, type Owner, rateOf, SIZE, timed, upload, watchMemory } from './gigabyte.ts'
import type { Bench } from './measure.ts'
import { residentMebibytes } from './processes.ts'
import { cleanEnvironment, startOncebox } from './servers.ts'
import type { Row } from './table.ts'
import { targets } from './targets.ts'

const AT_ONCE = 8

type Figures = { up: number; down: number; added: number; addedTogether: number; p99: number }

export async function measureFiles(bench: Bench): Promise<void> {
  console.error(`… a gigabyte up and down, alone and ${AT_ONCE} at once`)
  const plain = measurePlain(join(bench.sandbox.folder, 'plain'))
  const figures: Figures[] = []
  for (const [n, binary] of bench.binaries.entries())
    figures.push(await carryFiles(bench, { binary, dataDir: join(bench.sandbox.folder, `files-${n}`) }))
  const add = (row: Omit<Row, 'cells'>, name: keyof Figures) =>
    bench.addRow({ ...row, cells: figures.map((ofBinary) => ({ measured: ofBinary[name] })) })
  const half = (target: number, rate: number) => ({ atLeast: Math.min(target, rate / 2) })
  const plainly = (rate: number) => `(plain file access: ${rate.toFixed(0)} MiB/s)`
  const { upload, download, fileMemory, filesMemory, filesP99 } = targets
  add(
    { what: `upload of 1 GiB ${plainly(plain.write)}`, unit: 'MiB/s', wanted: half(upload, plain.write) },
    'up',
  )
  add(
    { what: `download of 1 GiB ${plainly(plain.read)}`, unit: 'MiB/s', wanted: half(download, plain.read) },
    'down',
  )
  add({ what: 'memory added by both', unit: 'MiB', wanted: fileMemory }, 'added')
  add({ what: `memory added by ${AT_ONCE} at once`, unit: 'MiB', wanted: filesMemory }, 'addedTogether')
  add({ what: 'p99 of creates meanwhile', unit: 'ms', wanted: filesP99 }, 'p99')
}

async function carryFiles(
  { sandbox, cores }: Bench,
  { binary, dataDir }: { binary: string; dataDir: string },
): Promise<Figures> {
  const server = await startOncebox({ sandbox, prefix: cores.serverPrefix, binary, dataDir })
  const token = addOwner(binary, dataDir)
  const owner = { url: `http://127.0.0.1:${server.port}/api/v2/pushes`, token }
  const before = residentMebibytes(server.pid) ?? Number.NaN
  const alone = watchMemory(server.pid)
  const up = await timed(() => upload(owner))
  const down = await timed(() => download(up.result))
  const added = alone() - before
  const together = watchMemory(server.pid)
  const meanwhile = watchRequests(owner)
  const links = await Promise.all(Array.from({ length: AT_ONCE }, () => upload(owner)))
  await Promise.all(links.map(download))
  const p99 = await meanwhile()
  const addedTogether = together() - before
  await server.stop()
  rmSync(dataDir, { recursive: true })
  return { up: up.rate, down: down.rate, added, addedTogether, p99 }
}

/** An account, which files need, and its API token. */
function addOwner(binary: string, dataDir: string): string {
  const run = (words: string[], input: string) => {
    const { success, stdout, stderr } = Bun.spawnSync([binary, ...words, '--data-dir', dataDir], {
      stdin: Buffer.from(input),
      env: cleanEnvironment(),
    })
    if (!success) throw new Error(`oncebox ${words.join(' ')} failed:\n${stderr}`)
    return stdout.toString().trim()
  }
  const email = 'ann@example.org'
  run(['user', 'add', email, '--password-stdin'], `${crypto.randomUUID()}\n`)
  return run(['token', 'create', email], '')
}
/** Measures writing with one fsync at the end, and reading, in MiB per second. */
function measurePlain(path: string): { write: number; read: number } {
  const chunk = Buffer.alloc(256 * 1024, 7)
  const file = openSync(path, 'w+')
  const began = performance.now()
  for (let written = 0; written < SIZE; written += chunk.length) writeSync(file, chunk)
  fsyncSync(file)
  const wrote = performance.now()
  for (let read = 0; read < SIZE; read += chunk.length) readSync(file, chunk, 0, chunk.length, read)
  const done = performance.now()
  closeSync(file)
  rmSync(path)
  return { write: rateOf(wrote - began), read: rateOf(done - wrote) }
}

/** Measures latencies. The returned function stops and returns the 99th percentile in milliseconds. */
function watchRequests({ url }: Owner): () => Promise<number> {
  const times: number[] = []
  let stopped = false
  const asking = (async () => {
    while (!stopped) {
      const began = performance.now()
      await (await fetch(url, { method: 'POST', body: new URLSearchParams({ 'push[payload]': 'x' }) })).text()
      times.push(performance.now() - began)
      await Bun.sleep(5)
    }
  })()
  return async () => {
    stopped = true
    await asking
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
  }
}
