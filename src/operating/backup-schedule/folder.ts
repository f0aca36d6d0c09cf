// The folder of backups, as the process for it works there: what is present, what may go. Touches no file that the task does
// not name, since the folder may hold those of other servers and of people.

import { constants } from 'node:fs'
import { access, lstat, mkdir, opendir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { surplusBackups } from '../../domain/backup-plan.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import type { BackupTask, TaskDone } from './task.ts'

type Files = TaskDone['present']

/** Throws the error of the system when the folder is not there or cannot be written to. */
export async function requireBackupFolder({ folder, mayMakeFolder }: BackupTask): Promise<void> {
  if (mayMakeFolder) await mkdir(folder, { mode: 0o700 }).catch(() => undefined)
  const opened = await opendir(folder)
  await opened.close()
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
}

export async function isOnOneDisk(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.dev === second.dev
}

/** Removes what earlier processes have left of backups that they could not finish. */
export async function removeUnfinished({ folder, begun }: BackupTask): Promise<void> {
  if (begun.length === 0) return
  const isOurs = (name: string) => name.endsWith('.part') && begun.some((ours) => name.startsWith(`${ours}.`))
  for (const name of await readdir(folder)) if (isOurs(name)) await rm(join(folder, name), { force: true })
}

/** In the order of the record: whole means as large as it was recorded. */
export async function listPresent({ folder, known, begun }: BackupTask): Promise<Files> {
  const found: { name: string; bytes: number }[] = []
  for (const { name, bytes } of known)
    if ((await sizeOf(join(folder, name))) === bytes) found.push({ name, bytes })
  for (const name of begun) {
    const bytes = await sizeOf(join(folder, name))
    if (bytes !== null) found.push({ name, bytes })
  }
  return found
}

/** Null for what is not there, or is no plain file. */
async function sizeOf(path: string): Promise<number | null> {
  const found = await lstat(path).catch(() => null)
  return found?.isFile() ? found.size : null
}

export type Removal = Pick<TaskDone, 'present' | 'removed' | 'notRemoved'>

/** Call it only when the newest of `present` is complete. */
export async function removeSurplus(folder: string, present: Files, keep: number): Promise<Removal> {
  const removed: string[] = []
  let notRemoved: string | null = null
  for (const { name } of surplusBackups(present, keep)) {
    try {
      await rm(join(folder, name))
      removed.push(name)
    } catch (cause) {
      notRemoved = `${name}: ${reasonOf(cause)}`
    }
  }
  return { present: present.filter(({ name }) => !removed.includes(name)), removed, notRemoved }
}
