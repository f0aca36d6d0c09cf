// Reads the memory and processor time of a process from the system.

import { readdirSync, readFileSync } from 'node:fs'

/** Returns resident memory in MiB; undefined on systems that do not report it. */
export function residentMebibytes(pid: number): number | undefined {
  if (process.platform === 'linux')
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  if (Bun.which('ps') === null) return undefined
  return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) / 1024
}

/**
 * Returns the processor time of a process's live threads in milliseconds; undefined except on Linux.
 */
export function workedMilliseconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const folder = `/proc/${pid}/task`
  const nanoseconds = readdirSync(folder).map((thread) => workedNanoseconds(`${folder}/${thread}`))
  return nanoseconds.reduce((sum, worked) => sum + worked, 0) / 1e6
}

/** Returns the CPU time of one thread, which may end at any moment. */
function workedNanoseconds(thread: string): number {
  try {
    return Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

const WINDOW_MILLISECONDS = 1000
const QUIET_WINDOWS = 2
const MOST_WINDOWS = 120
/** The share of a core that a server without requests stays below. */
const IDLE_SHARE = 0.03

/**
 * Flushes all dirty pages to the disk and waits until the server is idle: its work after a start is done
 * then.
 */
export async function settle(pid: number): Promise<void> {
  for (let quiet = 0, windows = 0; quiet < QUIET_WINDOWS && windows < MOST_WINDOWS; windows += 1) {
    if (Bun.which('sync') !== null) await Bun.spawn(['sync']).exited
    const before = workedMilliseconds(pid) ?? 0
    await Bun.sleep(WINDOW_MILLISECONDS)
    const worked = (workedMilliseconds(pid) ?? 0) - before
    quiet = worked / WINDOW_MILLISECONDS < IDLE_SHARE ? quiet + 1 : 0
  }
}
