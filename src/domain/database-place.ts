// Where a database is, as its server tells: cluster, database, table of the instance and timeline, with slashes between them.
//
// A standby that takes over counts the timeline up, and the former primary stays on its own, however far it goes on. A recovery to
// a point in time counts it up as well.

type Timelines = { here: number; known: number }

/** The timelines when the database was on a later one of the same cluster already; otherwise null. */
export function findOvertaking({ here, known }: { here: string; known: string | null }): Timelines | null {
  const [now, before] = [parsePlace(here), parsePlace(known ?? '')]
  if (now === null || before === null || now.cluster !== before.cluster) return null
  return now.timeline < before.timeline ? { here: now.timeline, known: before.timeline } : null
}

const PLACE = /^(\d+)\/.*\/([0-9A-F]{8})$/

/** Null for a server in recovery, which tells no timeline. */
function parsePlace(place: string): { cluster: string; timeline: number } | null {
  const [, cluster, timeline] = PLACE.exec(place) ?? []
  if (cluster === undefined || timeline === undefined) return null
  return { cluster, timeline: Number.parseInt(timeline, 16) }
}
