// The machine that this runs on, by the id that its system keeps for good. Containers have none: theirs comes with the image,
// or changes with every container, while the data stays.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { deriveKey } from '../../crypto/hkdf.ts'

const PATIENCE_MS = 2_000

export type SystemFiles = {
  machineId: string
  /** Where a system without a lasting id keeps one until it is restarted. */
  transientId: string
  /** Files that only containers have. */
  containers: readonly string[]
  mounts: string
}

const LINUX: SystemFiles = {
  machineId: '/etc/machine-id',
  transientId: '/run/machine-id',
  containers: ['/.dockerenv', '/run/.containerenv', '/var/run/secrets/kubernetes.io'],
  mounts: '/proc/self/mountinfo',
}

/** A hash of the id, since machine-id(5) asks programs not to pass the id itself on; null when there is none to rely on. */
export function readMachine(platform: NodeJS.Platform, files: SystemFiles = LINUX): string | null {
  const id = platform === 'linux' ? readLinuxId(files) : askSystem(platform)
  return id === null ? null : deriveKey({ material: [id], info: 'oncebox/1/machine' }).toString('hex')
}

function readLinuxId(files: SystemFiles): string | null {
  try {
    const [id] = /^[0-9a-f]{32}$/.exec(readFileSync(files.machineId, 'utf8').trim()) ?? []
    return id === undefined || isTransient(files) || isOfContainer(files) ? null : id
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
  const isContainer = containers.some((path) => existsSync(path)) || hasImageAsRoot(mounts)
  return isContainer && !mountPoints(mounts).some(({ at }) => at === machineId)
}

/** Docker, containerd and Podman stack the layers of an image; so do systems that start from a read-only medium. */
function hasImageAsRoot(mounts: string): boolean {
  return mountPoints(mounts).findLast(({ at }) => at === '/')?.type === 'overlay'
}

/** https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html: the type follows a lone hyphen. */
function mountPoints(mounts: string): { at: string; type: string }[] {
  return readFileSync(mounts, 'utf8')
    .split('\n')
    .filter((line) => line.includes(' - '))
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ')
      return { at: before.split(' ')[4] ?? '', type: after.split(' ')[0] ?? '' }
    })
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
