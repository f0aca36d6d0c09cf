// The mark beside the database, made anew for every time that the home is written down, and what tells a file from a copy.

import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import type { FileFacts, HomeMark } from '../../domain/home.ts'
import { type DataFolder, NEW } from './data-folder.ts'
import { syncFolder } from './sync-folder.ts'

const TEXT = '# Oncebox: this file tells the folder from a copy of it. Leave it here.'

/**
 * File systems whose inodes stay as they are for as long as the file does. Others make numbers up when they are mounted
 * (FUSE, CIFS, 9p, FAT). https://man7.org/linux/man-pages/man2/statfs.2.html
 */
const LASTING_INODES: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e],
  // tmpfs, overlayfs, NFS, Ceph, Lustre, JFS, ReiserFS, NTFS3
  ...[0x01021994, 0x794c7630, 0x6969, 0x00c36400, 0x0bd00bd0, 0x3153464a, 0x52654973, 0x7366746e],
])

/** Throws when there is no such file. */
export function factsOf(path: string): FileFacts {
  const { ino, birthtimeMs } = statSync(path, { bigint: true })
  // Elsewhere copying programs can set the time of birth, and inodes last.
  const isLinux = process.platform === 'linux'
  return {
    inode: ino > 0n && (!isLinux || LASTING_INODES.has(statfsSync(path).type)) ? String(ino) : null,
    birth: isLinux && birthtimeMs > 0n ? Number(birthtimeMs) : null,
  }
}

/** The marks that are there: two when a process ended while it changed them. */
export function readMarks(folder: DataFolder): HomeMark[] {
  return [folder.home, pendingOf(folder)].flatMap((path) => readMark(path) ?? [])
}

function readMark(path: string): HomeMark | null {
  try {
    const incarnation = readFileSync(path, 'utf8').split('\n')[0] ?? ''
    return { incarnation, facts: factsOf(path) }
  } catch {
    return null
  }
}

function pendingOf({ home }: DataFolder): string {
  return `${home}${NEW}`
}

/**
 * Makes the next mark beside the present one, which stays until `settle`: what the database remembers has a mark at any
 * moment. Survives a power cut. Throws when the disk has no room.
 */
export function makeMark(folder: DataFolder, incarnation: string): HomeMark {
  const path = pendingOf(folder)
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${incarnation}\n${TEXT}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  syncFolder(folder.path)
  return { incarnation, facts: factsOf(path) }
}

/** Lets the new mark replace the present one, if it is the one that the database remembers. */
export function settleMark(folder: DataFolder, incarnation: string): void {
  const path = pendingOf(folder)
  if (readMark(path)?.incarnation !== incarnation) return
  renameSync(path, folder.home)
  syncFolder(folder.path)
}
