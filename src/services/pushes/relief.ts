// Keeps memory flat while files pass through: what a gigabyte leaves behind in buffers is collected as it goes.

const EVERY_BYTES = 16 * 1024 * 1024

/** Told how many bytes have passed, of all files together. */
export type Relieve = (bytes: number) => void

/** The runtime does not see how much its buffers hold and would let them grow; `collect` makes it look. */
export function createRelieve(collect: () => void): Relieve {
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < EVERY_BYTES) return
    passed = 0
    collect()
  }
}
