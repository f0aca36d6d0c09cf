// The targets of the benchmark. Shares are in percent, times in milliseconds, memory in MiB of resident
// pages, rates in responses per second.

export type Wanted = { readonly atLeast: number } | { readonly atMost: number }

export const targets = {
  /** Relative to the rate of a bare Bun.serve in the same run. */
  creates: { atLeast: 12 },
  retrieves: { atLeast: 17 },
  /** Relative to the rate over plain HTTP. */
  tls: { atLeast: 75 },
  /** Relative to the rate in a new folder. */
  retrievesAmong: { atLeast: 60 },
  createsAmong: { atLeast: 65 },
  createPage: { atLeast: 4500 },
  linkPage: { atLeast: 9000 },
  /** Latencies and retrievals with a disk whose syncs have this latency. */
  slowDisk: {
    5: { p50: { atMost: 1 }, p99: { atMost: 5 }, retrieves: { atLeast: 5300 } },
    20: { p50: { atMost: 1 }, p99: { atMost: 6 }, retrieves: { atLeast: 1500 } },
  },
  /** How long one request, whatever it contains, may delay others. */
  hostile: { atMost: 100 },

  firstAnswer: { atMost: 90 },
  firstAnswerAgain: { atMost: 80 },
  firstAnswerAmong: { atMost: 1000 },
  versionWork: { atMost: 40 },
  firstSecondWork: { atMost: 100 },
  idleMemory: { atMost: 65 },
  /** The memory after a million requests. */
  loadedMemory: { atMost: 140 },

  /** In MiB per second, or half the rate of plain file access if that is lower. */
  upload: 300,
  download: 500,
  /**
   * How much memory the transfer of a gigabyte may add, alone and eight at once, and how long creates may
   * take during it.
   */
  fileMemory: { atMost: 64 },
  filesMemory: { atMost: 96 },
  filesP99: { atMost: 100 },

  /** The rate of one node over PostgreSQL, and that of two together relative to it. */
  postgresCreates: { atLeast: 1500 },
  postgresRetrieves: { atLeast: 1900 },
  postgresTwoNodes: { atLeast: 100 },
} as const
