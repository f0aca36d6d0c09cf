// The memory of a process, as the system counts it.

import { readFileSync } from 'node:fs'

/** Resident memory in MiB, or undefined if the system does not report it. */
export function residentMebibytes(pid: number): number | undefined {
  const kibibytes = fromProc(pid) ?? fromPs(pid)
  return kibibytes === undefined ? undefined : kibibytes / 1024
}

function fromProc(pid: number): number | undefined {
  try {
    const found = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}

function fromPs(pid: number): number | undefined {
  if (Bun.which('ps') === null) return undefined
  const printed = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return /^\d+$/.test(printed) ? Number(printed) : undefined
}
