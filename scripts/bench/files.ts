// The stage of files: uploads and downloads a gigabyte, alone and eight at once, and compares with plain file access.

import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { addOwners } from './accounts.ts'
import { download, type Owner, rateOf, SIZE, timed, upload, watchMemory } from './gigabyte.ts'
import { residentMebibytes } from './memory.ts'
import { startOncebox } from './servers.ts'
import type { Stage } from './stage.ts'
import { targets } from './targets.ts'

const AT_ONCE = 8

export async function measureFiles({ binary, sandbox, cores, report }: Stage): Promise<void> {
  const dataDir = join(sandbox.folder, 'data-files')
  const server = await startOncebox({ sandbox, prefix: cores.serverPrefix, binary, dataDir })
  const [token = ''] = await addOwners({ sandbox, binary, dataDir }, 1)
  const owner = { url: `http://127.0.0.1:${server.port}/api/v2/pushes`, token }
  const plain = measurePlain(join(sandbox.folder, 'plain'))
  const before = residentMebibytes(server.pid) ?? 0

  console.error('… a gigabyte up and down')
  const alone = watchMemory(server.pid)
  const up = await timed(() => upload(owner))
  const down = await timed(() => download(up.result))
  const peak = alone()

  console.error(`… ${AT_ONCE} gigabytes up and down at once`)
  const together = watchMemory(server.pid)
  const meanwhile = watchRequests(owner)
  const links = await Promise.all(Array.from({ length: AT_ONCE }, () => upload(owner)))
  await Promise.all(links.map(download))
  const p99 = await meanwhile()
  const peakTogether = together()
  await server.stop()

  const rates = [
    { what: 'upload of 1 GiB', rate: up.rate, target: targets.upload, beside: plain.write },
    { what: 'download of 1 GiB', rate: down.rate, target: targets.download, beside: plain.read },
  ]
  for (const { what, rate, target, beside } of rates) {
    const limit = { atLeast: Math.min(target, beside / 2) }
    report.judge({
      what,
      measured: rate,
      unit: 'MiB/s',
      limit,
      remark: `plainly ${Math.round(beside)} MiB/s`,
    })
  }
  const memory = { unit: 'MiB' as const, remark: `${before.toFixed(0)} MiB before` }
  report.judge({
    what: 'memory added by both',
    measured: peak - before,
    limit: targets.fileMemory,
    ...memory,
  })
  const added = peakTogether - before
  report.judge({
    what: `memory added by ${AT_ONCE} at once`,
    measured: added,
    limit: targets.filesMemory,
    ...memory,
  })
  report.judge({ what: 'p99 of creates meanwhile', measured: p99, unit: 'ms', limit: targets.filesP99 })
}

/** Writing with one fsync at the end, and reading, in MiB a second. */
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

/** The returned function stops watching and returns the 99th percentile in milliseconds. */
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
