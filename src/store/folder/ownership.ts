// The data folder and everything in it must belong to the user of this process. Another user may have planted a file to know
// the key or to read what is written. On Windows these checks do nothing.

import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError } from '../../domain/errors.ts'

const ROOT = 0

/** The words for a path in a refusal, and its remedy. `{owner}` and `{me}` are replaced by the names of the two users. */
export type Belonging = { what: string; remedy: string }

export const KEY_FILE: Belonging = {
  what: 'The key file',
  remedy:
    'Who put it there may know the key. Put your own key file in its place, or name it with --key-file; take this one over ' +
    '(chown {me}) only when you know where it comes from.',
}

/** Throws `conflict`, naming owner and remedy, when the path or the target of its link belongs to another user. */
export function requireOwn(path: string, belonging: Belonging, others: { mayBeRoots?: boolean } = {}): void {
  const me = process.geteuid?.()
  if (me === undefined) return
  const isForeign = ({ uid }: Stats) => uid !== me && !(others.mayBeRoots && uid === ROOT)
  const stats = [lstatSync, statSync].map((stat) => stat(path, { throwIfNoEntry: false }))
  const foreign = stats.find((found) => found !== undefined && isForeign(found))
  if (foreign === undefined) return
  const { what, remedy } = belonging
  const owner = userName(foreign.uid)
  throw new DomainError(
    'conflict',
    `${what} ${path} belongs to ${owner}, and this runs as ${userName(me)}. ` +
      remedy.replaceAll('{owner}', nameOrId(foreign.uid)).replaceAll('{me}', nameOrId(me)),
  )
}

/** Always true on Windows. */
export function isMine(path: string): boolean {
  const me = process.geteuid?.()
  return me === undefined || lstatSync(path, { throwIfNoEntry: false })?.uid === me
}

/**
 * For a command that root runs: changes the user of the process, permanently, to the owner of the folder or of the folder
 * that will contain it. So no file becomes root's, and nothing planted there is opened with root's rights. Returns the name
 * of the owner; null when the user stays the same. Throws `conflict` when the owner cannot reach the folder.
 */
export function becomeOwner(path: string): string | null {
  if (process.geteuid?.() !== ROOT) return null
  const place = nearestFolder(path)
  const { uid, gid } = statSync(place)
  if (uid === ROOT) return null
  process.setgroups?.([gid, ...groupsOf(uid)])
  process.setgid?.(gid)
  process.setuid?.(uid)
  requireReach(place, uid)
  return nameOrId(uid)
}

/** Throws `conflict` if the user that this runs as cannot reach the path. */
function requireReach(path: string, uid: number): void {
  try {
    statSync(path)
  } catch {
    throw unreachable(path, uid)
  }
}

/**
 * For a command that root runs and that needs the rights of root again afterwards. Does the work as the owner of the folder, so
 * that root owns no new file there, and opens nothing that the owner planted with the rights of root.
 */
export function asOwner<T>(path: string, work: () => T): T {
  const { geteuid, getgroups, setgroups, setegid, seteuid } = process
  if (geteuid?.() !== ROOT || !existsSync(path)) return work()
  const { uid, gid } = statSync(path)
  if (uid === ROOT) return work()
  const groups = getgroups?.() ?? []
  setgroups?.([gid, ...groupsOf(uid)])
  setegid?.(gid)
  seteuid?.(uid)
  try {
    requireReach(path, uid)
    return work()
  } finally {
    seteuid?.(ROOT)
    setegid?.(ROOT)
    setgroups?.(groups)
  }
}

function unreachable(path: string, uid: number): DomainError {
  const remedy =
    'Under DynamicUser= of systemd only the service reaches its folder: give the service a user of its own (User=), or run ' +
    'the command as the service: systemd-run --pipe --wait -p DynamicUser=yes -p User=oncebox -p StateDirectory=oncebox …'
  return new DomainError(
    'conflict',
    `${path} belongs to ${userName(uid)}, who may not enter a folder above it. ${remedy}`,
  )
}

/** The path itself, or the first folder above it that exists. */
function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path))
}

function userName(uid: number): string {
  const name = findUser(uid)
  return name === null ? `the user ${uid}` : `${name} (uid ${uid})`
}

function nameOrId(uid: number): string {
  return findUser(uid) ?? String(uid)
}

/** Null for a user that only a directory service knows. */
function findUser(uid: number): string | null {
  return readTable('/etc/passwd').find(([, , id]) => id === String(uid))?.[0] ?? null
}

/** The groups that the user is a member of. Access to the folder may depend on them. */
function groupsOf(uid: number): number[] {
  const name = findUser(uid)
  const groups = readTable('/etc/group').filter(([, , , members = '']) =>
    members.split(',').includes(name ?? ''),
  )
  return name === null ? [] : groups.map(([, , id]) => Number(id))
}

function readTable(path: string): string[][] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  } catch {
    return []
  }
}
