// A temporary folder and the processes that use it. Both are removed at the end, even after Ctrl-C.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const TMPFS = 0x01021994
const INTERRUPTED = 130

interface Child {
  readonly exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

export interface Sandbox {
  readonly folder: string
  /** Whether the folder is in memory, where an fsync costs nothing. */
  readonly inMemory: boolean
  /** Registers a process to kill at the end if it still runs. */
  adopt<T extends Child>(child: T): T
  close(): Promise<void>
}

export function createSandbox(parent: string | undefined): Sandbox {
  const folder = mkdtempSync(join(resolve(parent ?? tmpdir()), 'oncebox-bench-'))
  const children = new Set<Child>()

  function adopt<T extends Child>(child: T): T {
    children.add(child)
    void child.exited.then(() => children.delete(child))
    return child
  }

  async function close(): Promise<void> {
    const running = [...children]
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(running.map((child) => child.exited))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void close().finally(() => process.exit(INTERRUPTED)))
  }
  return {
    folder,
    inMemory: process.platform === 'linux' && statfsSync(folder).type === TMPFS,
    adopt,
    close,
  }
}
