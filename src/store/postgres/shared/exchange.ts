// Counts that each node keeps for itself, and whose sums the nodes exchange as rows every second. A limit on them is
// approximate: a node may allow what the others counted within the last second, and a few counts of each name are never told.

import type { Now } from '../../../domain/time.ts'
import { isCurrent } from '../../../domain/windowed-counts.ts'
import type { CountExchange, Exchanged } from '../../shared-face.ts'
import type { Read, Transact } from '../engine/database.ts'

/** Names that one exchange tells of, those with the most counts first. */
const TOLD_AT_ONCE = 1_000
/** Names that a node remembers. A flood from more of them is counted by each node alone. */
const MAX_NAMES = 20_000

/** `told` is this node's part of the row whose window ends at `until`. */
type Entry = { untold: number; told: number; others: number; until: number; since: number }

type Told = { name: string; entry: Entry; count: number }

export type ExchangeOptions = {
  read: Read
  transact: Transact
  now: Now
  /** A name as it is stored. */
  hashName: (name: string) => string
}

export function createExchange({ read, transact, now, hashName }: ExchangeOptions) {
  const kinds: { kind: Exchanged; entries: Map<string, Entry> }[] = []

  function open(kind: Exchanged): CountExchange {
    const entries = new Map<string, Entry>()
    kinds.push({ kind, entries })

    function note(name: string): void {
      const entry = entries.get(name)
      if (entry !== undefined) entry.untold += 1
      else if (entries.size < MAX_NAMES)
        entries.set(name, { untold: 1, told: 0, others: 0, until: 0, since: now() })
    }

    function others(name: string): number {
      const entry = entries.get(name)
      return entry !== undefined &&
        isCurrent({ until: entry.until, window: kind.window, slack: kind.window }, now())
        ? entry.others
        : 0
    }

    return { note, others }
  }

  /** Tells the other nodes what was counted here, and learns what they counted under the same names. */
  async function exchange(): Promise<void> {
    for (const { kind, entries } of kinds) {
      forgetLapsed(entries, kind)
      await tell(kind, findTellable(entries, kind))
      await hear(kind, findUnchanged(entries))
    }
  }

  /** Locks the rows in the order of their names, as every node does. */
  async function tell({ kind, window }: Exchanged, some: readonly Told[]): Promise<void> {
    if (some.length === 0) return
    const told = new Map(some.map((one) => [hashName(`${kind} ${one.name}`), one]))
    const names = [...told.keys()].sort()
    const counts = names.map((name) => told.get(name)?.count ?? 0)
    const values = [names, counts, now(), window]
    const rows = await transact((session) => session.query<Row>(TELL, values))
    for (const row of rows) learn(told.get(row.name), row)
  }

  async function hear({ kind }: Exchanged, some: readonly Told[]): Promise<void> {
    if (some.length === 0) return
    const heard = new Map(some.map((one) => [hashName(`${kind} ${one.name}`), one]))
    const rows = await read((session) => session.query<Row>(HEAR, [[...heard.keys()]]))
    for (const row of rows) learn(heard.get(row.name), row)
  }

  function forgetLapsed(entries: Map<string, Entry>, { window }: Exchanged): void {
    const time = now()
    for (const [name, entry] of entries) {
      const { since, until, told, untold } = entry
      if (isCurrent({ until: Math.max(until, since + window), window, slack: window }, time)) continue
      // Names that were told of are told of every second. So what is untold was counted just now, and begins a new window.
      if (told > 0 && untold > 0) entries.set(name, { untold, told: 0, others: 0, until: 0, since: time })
      else entries.delete(name)
    }
  }

  return { open, exchange }
}

function findTellable(entries: ReadonlyMap<string, Entry>, { least }: Exchanged): Told[] {
  return [...entries]
    .map(([name, entry]) => ({ name, entry, count: entry.untold }))
    .filter(({ entry, count }) => count > 0 && (entry.told > 0 || count >= least))
    .sort((one, other) => other.count - one.count)
    .slice(0, TOLD_AT_ONCE)
}

/** Names that the other nodes were told of, and under which nothing was counted here since. */
function findUnchanged(entries: ReadonlyMap<string, Entry>): Told[] {
  return [...entries]
    .map(([name, entry]) => ({ name, entry, count: 0 }))
    .filter(({ entry }) => entry.told > 0 && entry.untold === 0)
    .slice(0, TOLD_AT_ONCE)
}

type Row = { name: string; points: number; until: number }

function learn(told: Told | undefined, { points, until }: Row): void {
  if (told === undefined) return
  const { entry, count } = told
  entry.told = (entry.until === until ? entry.told : 0) + count
  entry.untold -= count
  entry.others = Math.max(0, points - entry.told)
  entry.until = until
}

const HEAR = 'SELECT name, points, until::float8 AS until FROM spent_points WHERE name = ANY($1::text[])'

/** An end more than a window later was set while the clock was ahead; the clocks of nodes are apart by far less. */
const IS_CURRENT = 'spent_points.until > $3::bigint AND spent_points.until <= excluded.until + $4::bigint'

const TELL = `
  INSERT INTO spent_points (name, points, until)
  SELECT name, points, $3::bigint + $4::bigint FROM unnest($1::text[], $2::int[]) AS given(name, points)
  ON CONFLICT (name) DO UPDATE SET
    points = excluded.points + CASE WHEN ${IS_CURRENT} THEN spent_points.points ELSE 0 END,
    until = CASE WHEN ${IS_CURRENT} THEN spent_points.until ELSE excluded.until END
  RETURNING name, points, until::float8 AS until`
