// Metrics for Prometheus. A label never contains a push, a person, an address or a path, only one of a few
// fixed words.

import { Counter, Gauge, Registry } from 'prom-client'
import { createCounts, createHistogram } from './tallies.ts'

/**
 * Histogram bounds in seconds: a retrieve takes under a millisecond, a passphrase 0.1 s, a large file
 * minutes.
 */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

type Reading = number | Record<string, number> | null

/**
 * A metric that is read at each scrape: one number, or one for each value of a label. A name that ends in
 * `_total` is a counter, which only grows while the process lives.
 */
export type Gauged = {
  name: string
  help: string
  label?: string | undefined
  /** Returns null to leave the gauge out of this scrape. */
  read: () => Reading | Promise<Reading>
}

export type Metrics = ReturnType<typeof createMetrics>

type RequestLine = { routeClass: string; status: number; durationMs: number }

/** Counts events on hot paths, and reads all other numbers at each scrape. */
export function createMetrics() {
  const registry = new Registry()
  const addRequest = createHistogram({
    name: 'oncebox_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer, without the time that a streamed body takes.',
    bounds: REQUEST_BUCKETS,
    registry,
  })
  const addCommit = createHistogram({
    name: 'oncebox_commit_duration_seconds',
    help: 'Time of a group commit, its fsync included.',
    bounds: COMMIT_BUCKETS,
    registry,
  })
  const addBatch = createHistogram({
    name: 'oncebox_commit_batch_size',
    help: 'Changes that shared one group commit.',
    bounds: BATCH_BUCKETS,
    registry,
  })
  const countsOf = (name: string, help: string, label: string) =>
    createCounts({ name, help, label, registry })
  const uploaded = new Counter({
    name: 'oncebox_uploaded_bytes_total',
    help: 'Bytes of the files of created pushes.',
    registers: [registry],
  })

  return {
    request: ({ routeClass: route, status, durationMs }: RequestLine) => {
      const hundreds = Math.floor(status / 100)
      const labels = () => ({ route, status: `${hundreds}xx` })
      addRequest(`${route} ${hundreds}`, durationMs / 1000, labels)
    },
    /** Counted by error code, such as `too_many`. */
    refused: countsOf('oncebox_refusals_total', 'Requests that were refused, by reason.', 'reason'),
    created: countsOf('oncebox_pushes_created_total', 'Pushes created, by kind.', 'kind'),
    /** Counted by the outcome of the retrieval, such as `view` or `wrong_passphrase`. */
    retrieved: countsOf('oncebox_retrievals_total', 'Retrievals, by outcome: view, expired …', 'outcome'),
    committed: ({ steps, durationMs }: { steps: number; durationMs: number }) => {
      addCommit('', durationMs / 1000, noLabels)
      addBatch('', steps, noLabels)
    },
    uploaded: (bytes: number) => uploaded.inc(bytes),
    /** Adds gauges later, because the parts that they read are created after, and with, these metrics. */
    addGauges: (gauges: readonly Gauged[]) => {
      for (const gauged of gauges) addGauge(gauged, registry)
    },
    contentType: registry.contentType,
    /** The text of a scrape. */
    read: () => registry.metrics(),
  }
}

const noLabels = () => ({})

const PATIENCE_MS = 2_000

/** Resolves to null on a timeout: Prometheus waits ten seconds for the whole scrape. */
async function inTime(read: Gauged['read']): Promise<Reading> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), PATIENCE_MS)
  return Promise.race([read(), late]).finally(() => clearTimeout(timer))
}

/** Reads the number at every scrape, and leaves it out on a timeout. */
function addGauge({ name, help, label, read }: Gauged, registry: Registry): void {
  const labelNames = label === undefined ? [] : [label]
  const Kind = name.endsWith('_total') ? Counter : Gauge
  new Kind({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset()
      const found = await inTime(read).catch(() => null)
      if (found === null) return this.remove({})
      if (typeof found === 'number') this.inc(found)
      else for (const [value, number] of Object.entries(found)) this.inc({ [label ?? '']: value }, number)
    },
  })
}
