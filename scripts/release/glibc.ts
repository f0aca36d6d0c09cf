// Copies the files of the C library that the executable needs in an otherwise empty image from this machine.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from './archive.ts'
import type { Architecture } from './parts.ts'

type Library = {
  /** The path of the loader that programs expect, and the folder of the libraries. */
  loader: string
  folder: string
  /** Node's name of the processor, and the package for machines with another one. */
  processor: string
  crossPackage: string
  crossFolder: string
}

const LIBRARIES: Record<Architecture, Library> = {
  amd64: {
    loader: 'lib64/ld-linux-x86-64.so.2',
    folder: 'lib/x86_64-linux-gnu',
    processor: 'x64',
    crossPackage: 'libc6-amd64-cross',
    crossFolder: '/usr/x86_64-linux-gnu/lib',
  },
  arm64: {
    loader: 'lib/ld-linux-aarch64.so.1',
    folder: 'lib/aarch64-linux-gnu',
    processor: 'arm64',
    crossPackage: 'libc6-arm64-cross',
    crossFolder: '/usr/aarch64-linux-gnu/lib',
  },
}

const NAMES = ['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0']

/**
 * Returns the files, or what is missing and the remedy. `folder` overrides the usual folder.
 */
export function glibcFor(
  architecture: Architecture,
  folder: string | undefined,
): { files: Entry[] } | { missing: string } {
  const { loader, folder: home, processor, crossPackage, crossFolder } = LIBRARIES[architecture]
  const isNative = process.arch === processor
  const from = folder ?? (isNative ? `/${home}` : crossFolder)
  const loaderName = loader.slice(loader.lastIndexOf('/') + 1)
  const wanted = [
    { path: loader, source: join(from, loaderName) },
    ...NAMES.map((name) => ({ path: `${home}/${name}`, source: join(from, name) })),
  ]
  const absent = wanted.find(({ source }) => !existsSync(source))
  if (absent !== undefined) {
    const remedy = `install ${isNative ? 'libc6' : crossPackage}, or name a folder with --glibc-${architecture}`
    return { missing: `${absent.source} is missing: ${remedy}` }
  }
  return { files: wanted.map(({ path, source }) => ({ path, mode: 0o755, bytes: readFileSync(source) })) }
}

/** Returns the licence of glibc, to ship with its files; null if it is not installed here. */
export function glibcLicence(): Uint8Array | null {
  const path = ['/usr/share/doc/libc6/copyright', '/usr/share/doc/libc6-arm64-cross/copyright'].find(
    existsSync,
  )
  return path === undefined ? null : readFileSync(path)
}
