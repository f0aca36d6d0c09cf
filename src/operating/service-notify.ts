// Reads from the environment how systemd wants to be notified by a service (sd_notify(3), sd_watchdog_enabled(3)).

/** The most bytes of a path in the address of a socket. */
const MAX_PATH = 107

export type ServiceEnvironment = {
  /** A path, or `@name` for an abstract socket. */
  notifySocket: string
  /** Microseconds within which systemd wants a sign of life; null without a watchdog. */
  watchdogUsec: number | null
}

export type ServiceNotifier = {
  ready(): void
  /** Call this when a reload begins, and `ready` when it has ended. */
  reloading(): void
  stopping(): void
}

/** Null when systemd did not start this process, or expects no notification. */
export function readServiceEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): ServiceEnvironment | null {
  const { NOTIFY_SOCKET: notifySocket = '', WATCHDOG_USEC: usec = '', WATCHDOG_PID: watched } = env
  if (!/^[/@]/.test(notifySocket) || Buffer.byteLength(notifySocket) > MAX_PATH) return null
  const isForUs = watched === undefined || watched === '' || Number(watched) === pid
  return { notifySocket, watchdogUsec: /^[1-9]\d*$/.test(usec) && isForUs ? Number(usec) : null }
}
