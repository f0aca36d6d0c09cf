// Notifies systemd (sd_notify(3)): ready, reloading, stopping, and watchdog pings. Does nothing if systemd
// did not start the server, or if the unit is not Type=notify.

import { dlopen, FFIType, ptr } from 'bun:ffi'
import { joinCalls, type Reload } from './reload.ts'

const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 0o2000002
const MSG_NOSIGNAL = 0x4000
const CLOCK_MONOTONIC = 1
/** The most bytes of a path in a Unix socket address. */
const MAX_PATH = 107

type ManagedOptions = {
  env: Readonly<Record<string, string | undefined>>
  /** Whether the server can still do its work. If not, systemd restarts it. */
  isAlive: () => Promise<boolean>
  reload: Reload
  stop: () => Promise<void>
}

/** Notifies systemd that the server is ready. Returns reload and stop functions that notify it too. */
export function announceReady({ env, isAlive, reload, stop }: ManagedOptions) {
  const service = process.platform === 'linux' ? readEnvironment(env, process.pid) : null
  if (service === null) return { reload, stop }
  const { send, monotonicUsec } = openSocket(service.notifySocket)
  send('READY=1')
  // Pings at half the watchdog interval, as sd_watchdog_enabled(3) recommends.
  const watch = async () => {
    if (await isAlive()) send('WATCHDOG=1')
  }
  const { watchdogUsec } = service
  const timer = watchdogUsec === null ? undefined : setInterval(watch, watchdogUsec / 2000)
  return {
    reload: joinCalls(async () => {
      send(`RELOADING=1\nMONOTONIC_USEC=${monotonicUsec()}`)
      await reload().finally(() => send('READY=1'))
    }),
    stop: async () => {
      clearInterval(timer)
      send('STOPPING=1')
      await stop()
    },
  }
}

/** Returns null when systemd did not start this process, or expects no notification. */
function readEnvironment(env: ManagedOptions['env'], pid: number) {
  const { NOTIFY_SOCKET: notifySocket = '', WATCHDOG_USEC: usec = '', WATCHDOG_PID: watched } = env
  if (!/^[/@]/.test(notifySocket) || Buffer.byteLength(notifySocket) > MAX_PATH) return null
  const isForUs = watched === undefined || watched === '' || Number(watched) === pid
  return { notifySocket, watchdogUsec: /^[1-9]\d*$/.test(usec) && isForUs ? Number(usec) : null }
}

/**
 * Opens the datagram socket of systemd. Returns a function that does nothing if the C library cannot be
 * loaded.
 */
function openSocket(name: string) {
  const library = openLibrary()
  const address = socketAddress(name)
  function send(state: string): void {
    if (library === null) return
    const bytes = Buffer.from(state)
    const socket = library.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
    if (socket < 0) return
    library.sendto(socket, ptr(bytes), bytes.length, MSG_NOSIGNAL, ptr(address), address.length)
    library.close(socket)
  }
  return { send, monotonicUsec: () => (library === null ? 0n : readMonotonic(library.clock_gettime)) }
}

/** `struct sockaddr_un`: the family, then the path; an abstract name begins with a zero byte. */
function socketAddress(name: string): Buffer {
  const path = Buffer.from(name)
  if (name.startsWith('@')) path[0] = 0
  const family = Buffer.alloc(2)
  family.writeUInt16LE(AF_UNIX)
  return Buffer.concat([family, path])
}

/** The C library, by the names of glibc and musl. */
const LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

function openLibrary() {
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, {
        socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
        sendto: {
          args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
          returns: FFIType.i64,
        },
        close: { args: [FFIType.i32], returns: FFIType.i32 },
        clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
      }).symbols
    } catch {
      // Tries the name of the other C library.
    }
  }
  return null
}

/** Microseconds of CLOCK_MONOTONIC, which systemd expects with a reload. */
function readMonotonic(clockGettime: (clock: number, into: ReturnType<typeof ptr>) => number): bigint {
  const time = Buffer.alloc(16)
  clockGettime(CLOCK_MONOTONIC, ptr(time))
  return time.readBigInt64LE(0) * 1_000_000n + time.readBigInt64LE(8) / 1000n
}
