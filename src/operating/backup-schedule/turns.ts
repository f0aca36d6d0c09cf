// One work in the folder of backups at a time, until the server stops.

import type { RunningTask, StartTask, TaskResult } from './process.ts'
import type { BackupTask } from './task.ts'

const HANGS: TaskResult = {
  ...{ state: 'failed', code: 'stalled' },
  words: 'an earlier process still waits for the disk and cannot be ended',
}

export type Turns = ReturnType<typeof createTurns>

export function createTurns(startTask: StartTask) {
  let running: RunningTask | null = null
  let turn: Promise<void> | null = null
  let isStopped = false

  /** Starts no second process beside one that cannot be ended. */
  async function run(task: BackupTask): Promise<TaskResult> {
    if (isStopped) return { state: 'stopped' }
    if (running !== null && !running.isGone()) return HANGS
    running = startTask(task)
    return running.result
  }

  /** Does nothing while another turn is taken, and at the end. */
  function take(work: () => Promise<void>): void {
    if (turn !== null || isStopped) return
    turn = work().finally(() => {
      turn = null
    })
  }

  /** Within seconds, whatever the disk does. */
  async function stop(): Promise<void> {
    isStopped = true
    await running?.stop()
    await turn
  }

  return { run, take, stop, isStopped: () => isStopped }
}
