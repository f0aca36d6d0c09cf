// A histogram of latencies: 10 µs wide steps up to two seconds, so that recording costs one addition.

const STEP_NANOSECONDS = 10_000
const STEPS = 200_000

export interface Latencies {
  /** Adds one latency, in nanoseconds. */
  record(nanoseconds: number): void
  /**
   * Returns the upper bound, in milliseconds, of the fastest `share` (0 to 1) of the latencies; 0 if there
   * are none.
   */
  percentile(share: number): number
  /** The longest latency, in milliseconds. */
  longest(): number
}

export function createLatencies(): Latencies {
  const counts = new Uint32Array(STEPS)
  let total = 0
  let longest = 0

  function record(nanoseconds: number): void {
    const step = Math.min(STEPS - 1, Math.floor(nanoseconds / STEP_NANOSECONDS))
    counts[step] = (counts[step] ?? 0) + 1
    total += 1
    if (nanoseconds > longest) longest = nanoseconds
  }

  function percentile(share: number): number {
    const wanted = Math.ceil(total * share)
    let seen = 0
    for (let step = 0; step < STEPS - 1 && wanted > 0; step += 1) {
      seen += counts[step] ?? 0
      if (seen >= wanted) return Math.min(longest, (step + 1) * STEP_NANOSECONDS) / 1e6
    }
    return longest / 1e6
  }

  return { record, percentile, longest: () => longest / 1e6 }
}
