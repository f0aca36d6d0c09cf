// The machine that this runs on, by the id that its system keeps for good. Containers have none: theirs comes with the image,
// or changes with every container, while the data stays. Neither has a system that is made anew at every start.

import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { deriveKey } from '../../crypto/hkdf.ts'

const PATIENCE_MS = 2_000

export type SystemFiles = {
  machineId: string
  /** Where a system without a lasting id keeps one until it is restarted. */
  transientId: string
  /** Files that only containers have. */
  containers: readonly string[]
  mounts: string
  /** The type of the file system under a path, as statfs(2) tells it. */
  typeUnder: (path: string) => number
}

const LINUX: SystemFiles = {
  machineId: '/etc/machine-id',
  transientId: '/run/machine-id',
  containers: ['/.dockerenv', '/run/.containerenv', '/var/run/secrets/kubernetes.io'],
  mounts: '/proc/self/mountinfo',
  typeUnder: (path) => statfsSync(path).type,
}

/**
 * File systems that are empty at every start, or come with an image and change with it: tmpfs, ramfs, overlayfs, SquashFS,
 * EROFS, ISO 9660. https://man7.org/linux/man-pages/man2/statfs.2.html
 */
const FLEETING: ReadonlySet<number> = new Set([
  0x01021994, 0x858458f6, 0x794c7630, 0x73717368, 0xe0f5e1e2, 0x9660,
])

/** A hash of the id, since machine-id(5) asks programs not to pass the id itself on; null when there is none to rely on. */
export function readMachine(platform: NodeJS.Platform, files: SystemFiles = LINUX): string | null {
  const id = platform === 'linux' ? readLinuxId(files) : askSystem(platform)
  return id === null ? null : deriveKey({ material: [id], info: 'oncebox/1/machine' }).toString('hex')
}

function readLinuxId(files: SystemFiles): string | null {
  try {
    const [id] = /^[0-9a-f]{32}$/.exec(readFileSync(files.machineId, 'utf8').trim()) ?? []
    const isLasting =
      !isTransient(files) && !isOfContainer(files) && !FLEETING.has(files.typeUnder(files.machineId))
    return isLasting ? (id ?? null) : null
  } catch {
    return null
  }
}

/** systemd then mounts one file over the other. */
function isTransient({ machineId, transientId }: SystemFiles): boolean {
  const [shown, transient] = [machineId, transientId].map((path) => statSync(path, { throwIfNoEntry: false }))
  return transient !== undefined && shown?.dev === transient.dev && shown.ino === transient.ino
}

/** An id that somebody has mounted into a container is that of the machine under it. */
function isOfContainer({ containers, mounts, machineId }: SystemFiles): boolean {
  return containers.some((path) => existsSync(path)) && !isMountPoint(machineId, mounts)
}

/** https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html: the fifth word is the mount point. */
function isMountPoint(path: string, mounts: string): boolean {
  return readFileSync(mounts, 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path)
}

/** A few milliseconds. Absolute paths, so that nobody can put another program in the way. */
const QUESTIONS: Partial<Record<NodeJS.Platform, { command: string[]; answer: RegExp }>> = {
  darwin: {
    command: ['/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice'],
    answer: /"IOPlatformUUID"\s*=\s*"([^"]+)"/,
  },
  win32: {
    command: [
      'C:\\Windows\\System32\\reg.exe',
      ...['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid'],
    ],
    answer: /MachineGuid\s+REG_SZ\s+(\S+)/,
  },
}

function askSystem(platform: NodeJS.Platform): string | null {
  const question = QUESTIONS[platform]
  if (question === undefined) return null
  try {
    const { stdout } = Bun.spawnSync(question.command, { stderr: 'ignore', timeout: PATIENCE_MS })
    return question.answer.exec(stdout.toString())?.[1] ?? null
  } catch {
    return null
  }
}
