// Ports for servers that cannot choose one by themselves, or that restart on the same port.

/** A range from which the system assigns no ephemeral ports. */
const FIRST = 20_000
const COUNT = 10_000

/** Returns an unused port of 127.0.0.1. Two concurrent tests hardly ever get the same one. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (isFree(port)) return port
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop(true)
    return true
  } catch {
    return false
  }
}
