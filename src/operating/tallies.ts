// Counters and histograms for hot paths: plain numbers, which take a tenth of a microsecond to increase.
// An increase in prom-client takes several microseconds, a tenth of a whole request, so prom-client only
// reads these numbers at each scrape.

import { Counter, Histogram, type Registry } from 'prom-client'

type Named = { name: string; help: string; registry: Registry }

/** Returns a counter for each value of one label. */
export function createCounts({ name, help, label, registry }: Named & { label: string }) {
  const counts = new Map<string, number>()
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, count] of counts) this.inc({ [label]: value }, count)
    },
  })
  return (value: string, times = 1): void => {
    counts.set(value, (counts.get(value) ?? 0) + times)
  }
}

type Tally = { labels: Record<string, string>; counts: Float64Array; sum: number }

/** Returns a histogram for each set of labels. `add` takes a key that identifies the labels. */
export function createHistogram({ bounds, ...named }: Named & { bounds: readonly number[] }) {
  const tallies = new Map<string, Tally>()
  registerHistogram(named, { bounds, tallies })

  return function add(key: string, value: number, labelsOf: () => Record<string, string>): void {
    let tally = tallies.get(key)
    if (tally === undefined) {
      tally = { labels: labelsOf(), counts: new Float64Array(bounds.length + 1), sum: 0 }
      tallies.set(key, tally)
    }
    let index = 0
    while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1
    tally.counts[index] = (tally.counts[index] ?? 0) + 1
    tally.sum += value
  }
}

function registerHistogram(
  { name, help, registry }: Named,
  { bounds, tallies }: { bounds: readonly number[]; tallies: ReadonlyMap<string, Tally> },
): void {
  /** Replaces prom-client's own observations with these numbers. */
  class TalliedHistogram extends Histogram {
    getForPromString() {
      return {
        name,
        help,
        type: 'histogram',
        values: [...tallies.values()].flatMap((tally) => present(name, tally, bounds)),
      }
    }
  }
  new TalliedHistogram({ name, help, buckets: [...bounds], registers: [registry] })
}

/** Yields the series of one histogram: cumulative buckets, sum and count. */
function present(name: string, { labels, counts, sum }: Tally, bounds: readonly number[]) {
  let below = 0
  const buckets = [...counts].map((count, index) => {
    below += count
    const le = bounds[index] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: below },
  ]
}
