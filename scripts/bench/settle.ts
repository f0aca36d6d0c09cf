// Waits until a server and the disk below it have finished what the requests before left to do.

import { readFileSync } from 'node:fs'
import type { Running } from './servers.ts'

const WINDOW_MILLISECONDS = 2000
const QUIET_WINDOWS = 3
const LIMIT_MILLISECONDS = 180_000
/** The share of a core that a server without requests stays below. */
const IDLE_SHARE = 0.03
/** USER_HZ, which Linux promises to programs. */
const TICKS_A_SECOND = 100

/**
 * Writes every dirty page to the disk, then waits until the server hardly uses its core: its checkpoints and deletions are
 * done by then. Its scrub ended long before, because it read the folder right after the start, when that was new.
 */
export async function settle(server: Running): Promise<void> {
  const started = performance.now()
  for (let quiet = 0; quiet < QUIET_WINDOWS; ) {
    await writeBack()
    quiet = (await shareOfCore(server.pid)) < IDLE_SHARE ? quiet + 1 : 0
    if (performance.now() - started > LIMIT_MILLISECONDS) break
  }
  console.error(`… settled after ${Math.round((performance.now() - started) / 1000)} s`)
}

async function writeBack(): Promise<void> {
  if (Bun.which('sync') !== null) await Bun.spawn(['sync']).exited
}

/** Counts as idle where the system does not tell: the windows have passed in any case. */
async function shareOfCore(pid: number): Promise<number> {
  const before = readTicks(pid)
  await Bun.sleep(WINDOW_MILLISECONDS)
  const after = readTicks(pid)
  if (before === null || after === null) return 0
  return (after - before) / TICKS_A_SECOND / (WINDOW_MILLISECONDS / 1000)
}

/** Processor time of a process, in user and kernel mode: fields 14 and 15 of proc(5). Null without /proc. */
function readTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return null
  }
}
