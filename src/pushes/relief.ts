// Keeps memory flat during large transfers, by collecting the used buffers every 16 MiB.

const EVERY_BYTES = 16 * 1024 * 1024

/** To be called with the bytes of every file that pass through. */
export type Relieve = (bytes: number) => void

/**
 * The garbage collector does not count the memory of buffers and would let it grow, so `collect` is called
 * explicitly.
 */
export function createRelieve(collect: () => void): Relieve {
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < EVERY_BYTES) return
    passed = 0
    collect()
  }
}
