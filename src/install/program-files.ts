// The program's files: the program itself, the former one, and the new one. Even after a `kill -9` at any
// step, its path still holds a program.

import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { conflict } from '../domain/errors.ts'
import { atStep } from '../store/durable-steps.ts'
import { syncFolder } from '../store/folder/durable-files.ts'

export type ProgramFiles = ReturnType<typeof programFiles>

/**
 * Returns the paths beside the program at `path`. `former`: the program that it replaced. `staged`: where a
 * new one is prepared, in the same folder, so that one rename installs it.
 */
export function programFiles(path: string) {
  const former = path.endsWith('.exe') ? path.replace(/\.exe$/, '.old.exe') : `${path}.old`
  return { path, former, staged: `${path}.new${path.endsWith('.exe') ? '.exe' : ''}` }
}

/** Every Debian package installs this file, even where other documentation is excluded. */
const PACKAGE_FILE = '/usr/share/doc/oncebox/copyright'

/**
 * Removes the leftovers of an interrupted upgrade. Throws `conflict` when another user could replace the
 * verified program, or when the program belongs to a package.
 */
export function prepareProgramFolder({ path, staged }: ProgramFiles): void {
  if (process.platform !== 'win32') for (const place of [dirname(path), path]) requireClosed(place)
  if (path === '/usr/bin/oncebox' && existsSync(PACKAGE_FILE))
    throw conflict(`${path} belongs to a package. Install the package of the new release in its place.`)
  rmSync(staged, { force: true })
}

function requireClosed(path: string): void {
  const { uid, mode } = statSync(path)
  const me = process.geteuid?.() ?? 0
  if (uid !== me && uid !== 0)
    throw conflict(
      `${path} belongs to another user (uid ${uid}), who could replace what you install. Upgrade as that user.`,
    )
  if ((mode & 0o002) !== 0)
    throw conflict(
      `Every user of this machine may write to ${path}, and so replace what you install. Close it first: chmod o-w ${path}`,
    )
}

/** Gives the staged program the owner and mode of the program that it replaces. */
export function allowToRun({ path, staged }: ProgramFiles): void {
  const { uid, gid, mode } = statSync(path)
  if (process.geteuid?.() === 0) chownSync(staged, uid, gid)
  chmodSync(staged, mode & 0o755)
}

/** Keeps the current program as the former one, and installs the staged one. */
export function replaceProgram({ path, former, staged }: ProgramFiles): void {
  if (process.platform === 'win32') {
    replaceOnWindows({ path, former, staged })
    return
  }
  const kept = `${former}.new`
  rmSync(kept, { force: true })
  keep(path, kept)
  atStep('kept')
  renameSync(kept, former)
  atStep('former')
  renameSync(staged, path)
  atStep('replaced')
  syncFolder(dirname(path))
  atStep('done')
}

/** Makes a hard link, or a copy where the file system has no hard links. */
function keep(path: string, kept: string): void {
  try {
    linkSync(path, kept)
  } catch {
    copyFileSync(path, kept)
    const { uid, gid, mode } = statSync(path)
    if (process.geteuid?.() === 0) chownSync(kept, uid, gid)
    chmodSync(kept, mode)
  }
}

/**
 * Renames in two steps, because Windows cannot replace a running program. Between them only the former one
 * exists.
 */
function replaceOnWindows({ path, former, staged }: ProgramFiles): void {
  rmSync(former, { force: true })
  renameSync(path, former)
  try {
    renameSync(staged, path)
  } catch (cause) {
    renameSync(former, path)
    throw cause
  }
}

/** Throws `conflict` when there is no former program, or another user could have written it. */
export function requireFormer({ path, former }: ProgramFiles): void {
  const found = lstatSync(former, { throwIfNoEntry: false })
  if (found === undefined)
    throw conflict(`There is no former program to return to: an upgrade keeps it as ${former}.`)
  if (!found.isFile()) throw conflict(`${former} is not a plain file.`)
  if (process.platform !== 'win32') for (const place of [dirname(path), former]) requireClosed(place)
}

/** Installs the former program again, with one rename (two on Windows). */
export function returnToFormer({ path, former, staged }: ProgramFiles): void {
  if (process.platform === 'win32') {
    renameSync(path, staged)
    renameSync(former, path)
    return
  }
  renameSync(former, path)
  syncFolder(dirname(path))
}
