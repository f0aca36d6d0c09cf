// Assigns processor cores to the server and to the load generator, so that neither takes time from the other.

export interface Cores {
  /** Prefix of a server's command line; empty if this system cannot pin processes to cores. */
  readonly serverPrefix: readonly string[]
  /** One sentence for the head of the report. */
  readonly description: string
  /**
   * Lets this process and later servers use all cores again. Returns an empty prefix.
   */
  share(): Cores
}

/**
 * Pins this process to its last core and leaves the first one for the servers (Linux with taskset).
 */
export function divideCores(): Cores {
  if (Bun.which('taskset') === null) return undivided('taskset is missing')
  const allowed = allowedCores()
  const [server] = allowed
  const load = allowed.at(-1)
  if (server === undefined || load === undefined || server === load) return undivided('one core only')

  // -a also moves running threads; new ones inherit the core.
  if (!moveTo([load])) return undivided('taskset was refused')
  return {
    serverPrefix: ['taskset', '-c', String(server)],
    description: `server on core ${server}, load generator on core ${load}`,
    share: () => {
      moveTo(allowed)
      return undivided('all of them share the cores')
    },
  }
}

function moveTo(cores: readonly number[]): boolean {
  return Bun.spawnSync(['taskset', '-acp', cores.join(','), String(process.pid)]).success
}

function undivided(reason: string): Cores {
  const cores: Cores = {
    serverPrefix: [],
    description: `NOT pinned to cores (${reason}): server and load generator take time from each other`,
    share: () => cores,
  }
  return cores
}

function allowedCores(): number[] {
  const printed = Bun.spawnSync(['taskset', '-cp', String(process.pid)]).stdout.toString()
  const list = printed.slice(printed.lastIndexOf(':') + 1).trim()
  return list.split(',').flatMap((part) => {
    const [first, last] = part.split('-').map(Number)
    if (first === undefined || !Number.isInteger(first)) return []
    return Array.from({ length: (last ?? first) - first + 1 }, (_, index) => first + index)
  })
}
