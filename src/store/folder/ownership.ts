// Ownership of the data folder: it and everything in it must belong to the user of this process. Another user
// might have planted a file to learn the key or to read what is written. These checks do nothing on Windows.

import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { conflict } from '../../domain/errors.ts'

const ROOT = 0

/** The name of a path in a refusal, and the flag that sets another path. */
export type OwnedPath = { what: string; flag: string | null }

export const KEY_FILE: OwnedPath = { what: 'The key file', flag: '--key-file' }

/**
 * Throws `conflict`, naming owner and remedy, when the path or the target of its link belongs to another
 * user.
 */
export function requireOwn(
  path: string,
  { what, flag }: OwnedPath,
  others: { mayBeRoots?: boolean } = {},
): void {
  const me = process.geteuid?.()
  if (me === undefined) return
  const isForeign = ({ uid }: Stats) => uid !== me && !(others.mayBeRoots && uid === ROOT)
  const stats = [lstatSync, statSync].map((stat) => stat(path, { throwIfNoEntry: false }))
  const foreign = stats.find((found) => found !== undefined && isForeign(found))
  if (foreign === undefined) return
  const another = flag === null ? '' : `, name another one with ${flag}`
  throw conflict(
    `${what} ${path} belongs to ${userName(foreign.uid)}, and this runs as ${userName(me)}. Run this as ${nameOrId(foreign.uid)}` +
      `${another}, or take it over (chown -hR ${nameOrId(me)}) only when you know where it comes from: who put it there may read ` +
      'what is in it.',
  )
}

/** Returns whether the user of this process owns the path; always true on Windows. */
export function isMine(path: string): boolean {
  const me = process.geteuid?.()
  return me === undefined || lstatSync(path, { throwIfNoEntry: false })?.uid === me
}

type Owner = { uid: number; gid: number; groups: number[] }

/**
 * Returns the owner of the path, if root runs this; null for any other user, and if the path belongs to root.
 */
function findOtherOwner(path: string): Owner | null {
  if (process.geteuid?.() !== ROOT) return null
  const { uid, gid } = statSync(path)
  return uid === ROOT ? null : { uid, gid, groups: [gid, ...groupsOf(uid)] }
}

/**
 * If root runs this process, changes its user permanently to the owner of the folder, or of the folder that
 * will contain it. So no new file belongs to root, and nothing planted there is opened with root's rights.
 * Returns the name of the owner; null if the user stays the same. Throws `conflict` if the owner cannot
 * access the folder.
 */
export function becomeOwner(path: string): string | null {
  const place = nearestFolder(path)
  const owner = findOtherOwner(place)
  if (owner === null) return null
  process.setgroups?.(owner.groups)
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
  requireReach(place, owner.uid)
  return nameOrId(owner.uid)
}

/**
 * Calls `work` as the owner of the folder, for a command that needs root's rights again afterwards. So root
 * owns no new file there, and opens nothing that the owner planted with root's rights.
 */
export function asOwner<T>(path: string, work: () => T): T {
  const owner = existsSync(path) ? findOtherOwner(path) : null
  if (owner === null) return work()
  const groups = process.getgroups?.() ?? []
  process.setgroups?.(owner.groups)
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
  try {
    requireReach(path, owner.uid)
    return work()
  } finally {
    process.seteuid?.(ROOT)
    process.setegid?.(ROOT)
    process.setgroups?.(groups)
  }
}

/** Throws `conflict` if the user that this runs as cannot reach the path. */
function requireReach(path: string, uid: number): void {
  try {
    statSync(path)
  } catch {
    throw conflict(
      `${path} belongs to ${userName(uid)}, who may not enter a folder above it. Under DynamicUser= of systemd only the service ` +
        'reaches its folder: give the service a user of its own (User=), or run the command as the service: systemd-run --pipe ' +
        '--wait -p DynamicUser=yes -p User=oncebox -p StateDirectory=oncebox …',
    )
  }
}

/** Returns the path itself, or the nearest existing folder above it. */
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

/** Returns the name of the user; null if only a directory service knows it. */
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
