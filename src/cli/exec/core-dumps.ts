// Turns off core dumps of this process and its children, because a dump would contain secrets.

import { dlopen, FFIType } from 'bun:ffi'
import { CommandFailure } from '../failures.ts'

/** RLIMIT_CORE, which has the same number on Linux and macOS. */
const RLIMIT_CORE = 4

const LIBRARIES: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`],
  darwin: ['/usr/lib/libSystem.B.dylib'],
}

/** Sets the limit of core dumps to 0 for good. Throws CommandFailure if it cannot; Windows has no limit. */
export function forbidCoreDumps(): void {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      const setrlimit = { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } as const
      const { symbols } = dlopen(library, { setrlimit })
      // The soft and the hard limit.
      if (symbols.setrlimit(RLIMIT_CORE, new BigUint64Array(2)) === 0) return
    } catch {
      // Try the name of the other C library.
    }
  }
  if (process.platform !== 'win32')
    throw new CommandFailure('Core dumps, which would hold secrets, cannot be turned off here.')
}
