// Metrics in the text format of Prometheus (0.0.4). What happens on hot paths is counted in plain numbers, which are read at each
// scrape. A label never contains a push, a person, an address or a path, only one of a few fixed words.

/** Seconds. A retrieve takes a fraction of a millisecond, a passphrase a tenth of a second, a large file minutes. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

type Reading = number | Record<string, number> | null

/** A number that is read at each scrape, or several numbers, one for each value of a label. */
export type Gauged = {
  name: string
  help: string
  /** Whether the number only grows while the process lives. */
  isCounter?: boolean
  label?: string
  /** Null for nothing to tell. */
  read: () => Reading | Promise<Reading>
}

/** Counts what happens. Called on hot paths. */
export type Meter = {
  request(line: { routeClass: string; status: number; durationMs: number }): void
  /** `reason` is a code of our own, such as `too_many`. */
  refused(reason: string, times?: number): void
  created(kind: string): void
  /** `outcome` is that of a retrieval, such as `view` or `wrong_passphrase`. */
  retrieved(outcome: string): void
  committed(batch: { works: number; durationMs: number }): void
  uploaded(bytes: number): void
}

export type Metrics = Meter & {
  /** Added later, because the parts that are read are created after the meter, which they receive. */
  addGauges(gauges: readonly Gauged[]): void
  contentType: string
  /** The text of a scrape. */
  read(): Promise<string>
}

export function createMetrics(): Metrics {
  const requests = createHistogram(REQUEST_BUCKETS)
  const commits = createHistogram(COMMIT_BUCKETS)
  const batches = createHistogram(BATCH_BUCKETS)
  const [refused, created, retrieved] = [createCounts(), createCounts(), createCounts()]
  let uploaded = 0
  const gauges: Gauged[] = [
    counted('oncebox_refusals_total', 'Requests that were refused, by reason.', 'reason', refused.read),
    counted('oncebox_pushes_created_total', 'Pushes created, by kind.', 'kind', created.read),
    counted('oncebox_retrievals_total', 'Retrievals, by outcome: view, expired …', 'outcome', retrieved.read),
    {
      name: 'oncebox_uploaded_bytes_total',
      help: 'Bytes of the files of created pushes.',
      isCounter: true,
      read: () => uploaded,
    },
  ]

  async function read(): Promise<string> {
    const texts = [
      requests.present('oncebox_request_duration_seconds', REQUESTS),
      commits.present('oncebox_commit_duration_seconds', 'Time of a group commit, its fsync included.'),
      batches.present('oncebox_commit_batch_size', 'Changes that shared one group commit.'),
      ...(await Promise.all(gauges.map(presentGauge))),
    ]
    return `${texts.join('\n')}\n`
  }

  return {
    request: ({ routeClass: route, status, durationMs }) => {
      const hundreds = Math.floor(status / 100)
      requests.add(`${route} ${hundreds}`, durationMs / 1000, () => ({ route, status: `${hundreds}xx` }))
    },
    refused: refused.add,
    created: created.add,
    retrieved: retrieved.add,
    committed: ({ works, durationMs }) => {
      commits.add('', durationMs / 1000, noLabels)
      batches.add('', works, noLabels)
    },
    uploaded: (bytes) => {
      uploaded += bytes
    },
    addGauges: (more) => void gauges.push(...more),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    read,
  }
}

const REQUESTS =
  'Time from the first byte of a request to its answer, without the time that a streamed body takes.'

const noLabels = () => ({})

const counted = (name: string, help: string, label: string, read: Gauged['read']): Gauged => ({
  ...{ name, help, label, read },
  isCounter: true,
})

function createCounts() {
  const counts = new Map<string, number>()
  return {
    add: (value: string, times = 1): void => void counts.set(value, (counts.get(value) ?? 0) + times),
    read: () => Object.fromEntries(counts),
  }
}

type Labels = Record<string, string>
type Tally = { labels: Labels; counts: Float64Array; sum: number }

/** Counts values up to each bound, by labels. `add` takes a key that identifies the labels. */
function createHistogram(bounds: readonly number[]) {
  const tallies = new Map<string, Tally>()

  function add(key: string, value: number, labelsOf: () => Labels): void {
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

  /** Buckets that include the smaller ones, the sum, and the count. */
  function present(name: string, help: string): string {
    const series = [...tallies.values()].flatMap(({ labels, counts, sum }) => {
      let below = 0
      const buckets = [...counts].map((count, index) => {
        below += count
        return line(`${name}_bucket`, { le: String(bounds[index] ?? '+Inf'), ...labels }, below)
      })
      return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, below)]
    })
    return [...headOf(name, help, 'histogram'), ...series].join('\n')
  }

  return { add, present }
}

const PATIENCE_MS = 2_000

/** Null for what does not answer in time: Prometheus waits ten seconds for everything together. */
async function inTime(read: Gauged['read']): Promise<Reading> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), PATIENCE_MS)
  return Promise.race([read(), late]).finally(() => clearTimeout(timer))
}

/** A number that cannot be read in time is left out. */
async function presentGauge({ name, help, isCounter = false, label = '', read }: Gauged): Promise<string> {
  const found = await inTime(read).catch(() => null)
  const series = typeof found === 'number' ? [line(name, {}, found)] : []
  const labelled = typeof found === 'number' ? [] : Object.entries(found ?? {})
  return [
    ...headOf(name, help, isCounter ? 'counter' : 'gauge'),
    ...series,
    ...labelled.map(([value, number]) => line(name, { [label]: value }, number)),
  ].join('\n')
}

function headOf(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, word]) => `${label}="${word.replace(ESCAPED, escaped)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

const ESCAPED = /[\\"\n]/g
const escaped = (character: string) => (character === '\n' ? '\\n' : `\\${character}`)
