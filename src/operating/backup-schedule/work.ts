// The work in the folder of backups, as the process for it does it.

import { join } from 'node:path'
import { isOnOneDisk, listPresent, removeSurplus, removeUnfinished, requireBackupFolder } from './folder.ts'
import {
  type BackupOrder,
  type BackupTask,
  explainTaskFailure,
  type TaskAnswer,
  type TaskDone,
} from './task.ts'
import { parseTask } from './task-lines.ts'

/**
 * Makes a whole new file at `destination`, or none. Calls `onWork` often while it gets on. `damage` is what of the database
 * could not be copied.
 */
export type MakeBackup = (
  wish: BackupOrder & { dataDir: string; destination: string },
  onWork: () => void,
) => Promise<Pick<TaskDone, 'damage'>>

export type WorkPorts = {
  makeBackup: MakeBackup
  /** Says a line to the server. */
  tell: (line: string) => void
}

/** `line` is a task of the server. Tells how it went in its last line; throws nothing. */
export async function workInBackupFolder(line: string, { makeBackup, tell }: WorkPorts): Promise<void> {
  const say = (answer: TaskAnswer) => tell(JSON.stringify(answer))
  const task = parseTask(line)
  if (task === null) return say({ state: 'failed', code: 'other', words: 'the task cannot be read' })
  const onWork = atTimes(() => say({ state: 'working' }))
  try {
    say({ state: 'done', ...(await work(task, { makeBackup, onWork })) })
  } catch (cause) {
    say({ state: 'failed', ...explainTaskFailure(cause, task) })
  }
}

/** Calls `tell` once a second at most. */
function atTimes(tell: () => void): () => void {
  let toldAt = performance.now()
  return () => {
    if (performance.now() - toldAt < 1_000) return
    toldAt = performance.now()
    tell()
  }
}

type Tools = { makeBackup: MakeBackup; onWork: () => void }

async function work(task: BackupTask, { makeBackup, onWork }: Tools): Promise<TaskDone> {
  const { folder, dataDir, make } = task
  await requireBackupFolder(task)
  const isSameDisk = await isOnOneDisk(folder, dataDir)
  await removeUnfinished(task)
  const nothing = { removed: [], notRemoved: null, isSameDisk, damage: [] }
  if (make === null) return { ...nothing, present: await listPresent(task) }
  const { damage } = await makeBackup({ ...make, dataDir, destination: join(folder, make.name) }, onWork)
  await requireBackupFolder({ ...task, mayMakeFolder: false })
  const present = await listPresent(task)
  if (present.at(-1)?.name !== make.name) throw new Error('the backup was gone as soon as it was made')
  // The earlier ones may hold what this one has lost.
  if (damage.length > 0) return { ...nothing, present, damage }
  return { ...nothing, ...(await removeSurplus(folder, present, make.keep)) }
}
