// The system that this program is built for.

import { closeSync, openSync, readSync } from 'node:fs'
import type { Target } from '../domain/release.ts'

const HEADER_BYTES = 4096

const SYSTEMS: Partial<Record<NodeJS.Platform, Target['system']>> = {
  linux: 'linux',
  darwin: 'macos',
  win32: 'windows',
}

/** `executable`: this program, whose first bytes name the loader of its C library. */
export function ownTarget(executable: string): Target {
  const system = SYSTEMS[process.platform] ?? 'linux'
  return {
    system,
    machine: process.arch === 'arm64' ? 'arm64' : 'x64',
    isMusl: system === 'linux' && readHeader(executable).includes('/ld-musl-'),
  }
}

function readHeader(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(HEADER_BYTES)
    return bytes.subarray(0, readSync(file, bytes, 0, HEADER_BYTES, 0)).toString('latin1')
  } finally {
    closeSync(file)
  }
}
