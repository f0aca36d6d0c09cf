// What the benchmark wants. Shares are percentages, times milliseconds, memory MiB of resident pages, rates
// answers a second.

export type Wanted = { readonly atLeast: number } | { readonly atMost: number }

export const targets = {
  /** Of the rate of a bare Bun.serve in the same run. */
  creates: { atLeast: 11 },
  retrieves: { atLeast: 17 },
  /** Of the rate over plain http. */
  tls: { atLeast: 75 },
  /** Of the rate in a new folder. */
  retrievesAmong: { atLeast: 80 },
  createsAmong: { atLeast: 65 },
  createPage: { atLeast: 4500 },
  linkPage: { atLeast: 9000 },
  /** Waits beside a disk that takes so many milliseconds for each sync, and the retrieves then. */
  slowDisk: {
    5: { p50: { atMost: 1 }, p99: { atMost: 5 }, retrieves: { atLeast: 5300 } },
    20: { p50: { atMost: 1 }, p99: { atMost: 6 }, retrieves: { atLeast: 1500 } },
  },
  /** What one request, whatever it carries, may keep others waiting. */
  hostile: { atMost: 100 },

  firstAnswer: { atMost: 90 },
  firstAnswerAgain: { atMost: 80 },
  firstAnswerAmong: { atMost: 1000 },
  versionWork: { atMost: 40 },
  firstSecondWork: { atMost: 100 },
  idleMemory: { atMost: 65 },
  /** After a million requests. */
  loadedMemory: { atMost: 140 },

  /** MiB a second, or half of what plain file access reaches where that is lower. */
  upload: 300,
  download: 500,
  /**
   * What a gigabyte up and down may add, alone and eight at once, and how long creates may take meanwhile.
   */
  fileMemory: { atMost: 64 },
  filesMemory: { atMost: 96 },
  filesP99: { atMost: 100 },

  /** Of one node over PostgreSQL, and of two together as a share of one. */
  postgresCreates: { atLeast: 1500 },
  postgresRetrieves: { atLeast: 1900 },
  postgresTwoNodes: { atLeast: 100 },
} as const
