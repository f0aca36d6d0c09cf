// Compares the processor time and memory of a request with its bytes.

import { readFileSync, writeFileSync } from 'node:fs'
import { workedMs } from './effort.ts'

type Send = () => Promise<unknown>

/** Sends a request that carries about `bytes`. `prepare` builds it, which is not measured. */
export type Costing = { name: string; bytes: number; prepare: (bytes: number) => Send | Promise<Send> }

/** Processor time below this is too short to compare. */
const FLOOR_MS = 25
/** Use the minimum of several tries, because other work of the process interferes. */
const TRIES = 6
/** Growth of the process that the request does not cause: it allocates memory in advance. */
const SLACK_BYTES = 16 * 1024 * 1024
/** The memory of smaller requests is lost in that noise. */
const LARGE_BYTES = 2 * 1024 * 1024

/**
 * Resolves to the problem: twice the bytes take more than three times the CPU time, or the memory grows by
 * more than ten times the bytes.
 */
export async function findExcessiveCost({ name, bytes, prepare }: Costing): Promise<string | null> {
  let half = Number.POSITIVE_INFINITY
  let whole = half
  let grown = half
  const growthOf = bytes < LARGE_BYTES ? withoutPeak : withPeak
  const isWorkFine = () => whole <= FLOOR_MS || whole <= 3 * half + FLOOR_MS
  const isMemoryFine = () => grown < 10 * bytes + SLACK_BYTES
  for (let tries = 0; tries < TRIES && !(isWorkFine() && isMemoryFine()); tries += 1) {
    if (tries > 0) Bun.gc(true)
    const send = await prepare(bytes)
    const growth = await growthOf(async () => {
      whole = Math.min(whole, await workOf(send))
    })
    grown = Math.min(grown, growth)
    if (whole > FLOOR_MS) half = Math.min(half, await workOf(await prepare(bytes / 2)))
  }
  if (!isWorkFine())
    return `${name}: ${Math.round(half)} ms for half of ${bytes} bytes, ${Math.round(whole)} for all`
  return isMemoryFine() ? null : `${name}: memory grew by ${grown} bytes for ${bytes}`
}

async function workOf(send: Send): Promise<number> {
  const before = workedMs()
  await send()
  return workedMs() - before
}

async function withoutPeak(work: Send): Promise<number> {
  await work()
  return 0
}

/**
 * Resolves to the peak growth of this process's resident size in bytes; 0 on systems without /proc. See
 * proc(5).
 */
async function withPeak(work: Send): Promise<number> {
  if (process.platform !== 'linux') return withoutPeak(work)
  writeFileSync('/proc/self/clear_refs', '5')
  const resident = bytesOf('VmRSS')
  await work()
  return bytesOf('VmHWM') - resident
}

function bytesOf(name: 'VmRSS' | 'VmHWM'): number {
  const [, kib = '0'] =
    new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
