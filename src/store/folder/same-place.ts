// Whether two paths lead to the same thing on the disk, by whatever names: through symbolic links, bind mounts, or a disk that is
// mounted twice. Everything that removes something asks here whether the other side still needs it.

import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { NEW } from './data-folder.ts'

/** As many as Linux follows. */
const MAX_LINKS = 40
const PROBE_CHARACTERS = 16

/** True also for two paths where the same thing would be made. Changes nothing. */
export function isSamePlace(one: string, other: string): boolean {
  return identify(resolve(one)) === identify(resolve(other))
}

/**
 * Like `isSamePlace`, for a folder of which something is to be removed. Also knows a network disk that is mounted twice, which the
 * system counts as two disks: a file that is made in the one folder, for a moment, appears in the other.
 */
export function isSameFolder(removed: string, other: string): boolean {
  if (isSamePlace(removed, other)) return true
  if (!existsSync(removed) || !existsSync(other)) return false
  const name = `.probe-${randomBase32(PROBE_CHARACTERS)}${NEW}`
  closeSync(openSync(join(removed, name), 'wx', 0o600))
  try {
    return existsSync(join(other, name))
  } finally {
    rmSync(join(removed, name), { force: true })
  }
}

/**
 * Whether a file could not be opened under the path `reader` any more once the name `removed` was taken from its folder. A hard link
 * of another name still can.
 */
export function isReadThrough(removed: string, reader: string): boolean {
  return namesOnTheWay(resolve(reader)).some((path) => isSameName(resolve(removed), path))
}

/** The path, and every path that its symbolic links lead to. */
function namesOnTheWay(path: string): string[] {
  const names = [path]
  for (let at = path; names.length <= MAX_LINKS; names.push(at)) {
    const next = readLink(at)
    if (next === null) break
    at = next
  }
  return names
}

/** Disks that ignore upper and lower case open one file under several names. */
function isSameName(removed: string, other: string): boolean {
  const [one, two] = [basename(removed), basename(other)]
  const isAlike = one === two || (fold(one) === fold(two) && isSamePlace(removed, other))
  return isAlike && isSameFolder(dirname(removed), dirname(other))
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** By device and inode; what is missing, by its path from the deepest folder above it that is there. */
function identify(path: string, missing: readonly string[] = [], links = 0): string {
  const found = find(path)
  if (found !== undefined) return [`${found.dev}:${found.ino}`, ...missing].join('/')
  const target = links < MAX_LINKS ? readLink(path) : null
  if (target !== null) return identify(target, missing, links + 1)
  const above = dirname(path)
  if (above === path) return [path, ...missing].join('/')
  return identify(above, [basename(path), ...missing], links)
}

/** Undefined for what is missing, and for a link that leads nowhere. */
function find(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(cause))) return undefined
    throw cause
  }
}

/** Where a symbolic link leads in one step; null for anything else. */
function readLink(path: string): string | null {
  try {
    if (!lstatSync(path).isSymbolicLink()) return null
    // A link leads on from the folder that really holds it.
    return resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    return null
  }
}
