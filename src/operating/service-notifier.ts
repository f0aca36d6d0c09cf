// Tells systemd how the service is doing (sd_notify(3)): ready, reloading, stopping, and still alive.

import { dlopen, FFIType, ptr } from 'bun:ffi'
import type { ServiceEnvironment, ServiceNotifier } from './service-notify.ts'

const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 0o2000002
const MSG_NOSIGNAL = 0x4000
const CLOCK_MONOTONIC = 1

export type ServiceNotifierOptions = ServiceEnvironment & {
  /** Whether the server can still do its work. If not, systemd restarts it. */
  isAlive: () => Promise<boolean>
}

/** Only for Linux. Sends the watchdog's signs of life from `ready` until `stopping`. */
export function createServiceNotifier(options: ServiceNotifierOptions): ServiceNotifier {
  const { notifySocket, watchdogUsec, isAlive } = options
  const library = openLibrary()
  const address = socketAddress(notifySocket)
  let timer: Timer | undefined

  function send(state: string): void {
    if (library === null) return
    const bytes = Buffer.from(state)
    const socket = library.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
    if (socket < 0) return
    library.sendto(socket, ptr(bytes), bytes.length, MSG_NOSIGNAL, ptr(address), address.length)
    library.close(socket)
  }

  /** Signals twice as often as systemd asks for, as sd_watchdog_enabled(3) recommends. */
  function watch(): void {
    if (watchdogUsec === null || timer !== undefined) return
    timer = setInterval(async () => {
      if (await isAlive()) send('WATCHDOG=1')
    }, watchdogUsec / 2000)
  }

  return {
    ready: () => {
      send('READY=1')
      watch()
    },
    reloading: () => send(`RELOADING=1\nMONOTONIC_USEC=${library?.monotonicUsec() ?? 0}`),
    stopping: () => {
      clearInterval(timer)
      send('STOPPING=1')
    },
  }
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
      const { symbols } = dlopen(name, {
        socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
        sendto: {
          args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
          returns: FFIType.i64,
        },
        close: { args: [FFIType.i32], returns: FFIType.i32 },
        clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
      })
      return { ...symbols, monotonicUsec: () => readMonotonic(symbols.clock_gettime) }
    } catch {
      // The other one may be there.
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
