// What the system tells of a process: its memory and its processor time.

import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory in MiB; undefined where the system does not tell. */
export function residentMebibytes(pid: number): number | undefined {
  if (process.platform === 'linux')
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  if (Bun.which('ps') === null) return undefined
  return Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString()) / 1024
}

/**
 * Milliseconds that the threads of a process have worked, those that ended left out; undefined without Linux.
 */
export function workedMilliseconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const folder = `/proc/${pid}/task`
  const nanoseconds = readdirSync(folder).map((thread) => workedNanoseconds(`${folder}/${thread}`))
  return nanoseconds.reduce((sum, worked) => sum + worked, 0) / 1e6
}

/** Of one thread, which may end at any moment. */
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
 * Writes every dirty page to the disk and waits until the server hardly works: then what it does by itself
 * after a start is done.
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
