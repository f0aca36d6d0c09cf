// Keeps memory usage flat during large transfers, by a garbage collection every 16 MiB.

const EVERY_BYTES = 16 * 1024 * 1024

/** Must be called with the size of every chunk of a file. */
export type Relieve = (bytes: number) => void

/** Calls `collect` explicitly, because the garbage collector does not count the memory of buffers. */
export function createRelieve(collect: () => void): Relieve {
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < EVERY_BYTES) return
    passed = 0
    collect()
  }
}
