// The targets of the benchmark. Shares are percentages, times milliseconds, memory MiB of resident pages.

export const targets = {
  /** Of the rate of a bare Bun.serve in the same run. */
  creates: { atLeast: 10, aim: 13 },
  retrieves: { atLeast: 15, aim: 18 },
  p99: { atMost: 50 },
  /** Retrieves on kept connections, of those over plain http. */
  tls: { atLeast: 75 },
  errors: { atMost: 0 },

  /** Of one page, on the server's core alone. */
  page: { atMost: 2 },

  /** What one request, whatever it carries, may keep others waiting. */
  block: { atMost: 100 },

  firstAnswer: { atMost: 120 },
  idleMemory: { atMost: 75 },
  /** After a million requests. */
  loadedMemory: { atMost: 200 },

  /** MiB a second, or half of the plain rate where that is lower. */
  upload: 300,
  download: 500,
  /** What a gigabyte up and down may add, alone and eight at once. */
  fileMemory: { atMost: 64 },
  filesMemory: { atMost: 96 },
  /** Of API requests while the eight run. */
  filesP99: { atMost: 100 },

  /** Answers a second of one node over PostgreSQL. */
  postgresClaims: { atLeast: 1900, aim: 2500 },
  postgresCreates: { atLeast: 1500, aim: 2000 },
  postgresP99: { atMost: 100 },
  /** Of two nodes together, of the rate of one. */
  postgresTwoNodes: { atLeast: 100 },
  /** With a million live pushes, of the rate on a new database. */
  postgresFull: { atLeast: 80 },
  /** What a gigabyte up to a bucket and down again may add. */
  bucketMemory: { atMost: 128 },

  /** With a million live pushes in the folder, of the rate on a new one. */
  fullCreates: { atLeast: 65 },
  fullRetrieves: { atLeast: 85 },
  firstPage: { atMost: 20 },
  fullStart: { atMost: 1000 },
} as const
