// Ports for servers that cannot choose one by themselves, or that come back to theirs.

/** The system gives none of these to a program that asks for any port, and none to an outgoing connection. */
const FIRST = 20_000
const COUNT = 10_000

/** A port of 127.0.0.1 that nothing uses. Two tests hardly ever draw the same one at once. */
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
