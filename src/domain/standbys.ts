// What PostgreSQL says of the servers that follow it, and what that says about a failover: whether each change is on one of them
// before it is answered. Only what was seen counts.

/** As one user of the database sees them. */
export type Standbys = {
  /** `synchronous_standby_names`; empty while no change waits for a standby. */
  names: string
  /** Those that follow now, by the names that they give themselves (application_name). Backups and logs that stream are none. */
  following: readonly string[]
  /** Those of all that are connected, which `names` names. That says nothing yet of what they have received. */
  named: readonly string[]
  /** Those that confirm changes and are waited for; null when the user may not see that. */
  confirming: readonly string[] | null
}

/** `unseen`: enough are connected under the right names, and the user may not see more. */
export type StandbyState = 'none' | 'asynchronous' | 'missing' | 'behind' | 'unseen' | 'confirmed'

export function judgeStandbys({ names, following, named, confirming }: Standbys): StandbyState {
  const { needed } = parseStandbyNames(names)
  if (needed === 0) return following.length === 0 ? 'none' : 'asynchronous'
  if (named.length < needed) return 'missing'
  if (confirming === null) return 'unseen'
  return confirming.length < needed ? 'behind' : 'confirmed'
}

/** For the operator, in a sentence or two; null while every change finds the standbys that it waits for, or nobody can see that. */
export function explainWaiting(standbys: Standbys): string | null {
  const state = judgeStandbys(standbys)
  const { names, named, confirming } = standbys
  const { needed } = parseStandbyNames(names)
  if (state === 'behind')
    return (
      `Of ${needed} that synchronous_standby_names (${names}) asks for, ${confirming?.length ?? 0} confirm changes, though ` +
      `${named.join(', ')} is connected: every change waits, and is refused in the end. It may still be catching up: see ` +
      'pg_stat_replication.'
    )
  if (state !== 'missing') return null
  const lacking =
    named.length === 0
      ? `No standby of synchronous_standby_names (${names}) is connected`
      : `Only ${named.length} of the ${needed} standbys that synchronous_standby_names (${names}) asks for is connected`
  const others = standbys.following.filter((name) => !named.includes(name))
  const strangers = others.length === 0 ? '' : ` Connected under other names: ${others.join(', ')}.`
  return (
    `${lacking}: every change waits for one, and is refused in the end.${strangers} Start the standby, or change ` +
    'synchronous_standby_names.'
  )
}

export const UNSEEN_REMEDY = 'GRANT pg_read_all_stats TO the user of --database-url shows it'

/** In a few words. `isProven`: a change was answered a moment ago that had waited for them. */
export function describeStandbys(standbys: Standbys, { isProven }: { isProven: boolean }): string {
  const { names, following, named, confirming } = standbys
  if (judgeStandbys(standbys) === 'none') return 'none'
  if (judgeStandbys(standbys) === 'asynchronous') return `asynchronous: ${following.join(', ')}`
  const seen =
    confirming === null ? `not shown to this user (${UNSEEN_REMEDY})` : confirming.join(', ') || 'none'
  const proof = isProven ? '; the last heartbeat was confirmed by as many as it needs' : ''
  return `synchronous (${names}); connected: ${named.join(', ') || 'none'}; confirming: ${seen}${proof}`
}

type StandbyNames = { needed: number; names: readonly string[] }

const TOKEN = /\s*("(?:[^"]|"")*"|\*|[(),]|[^\s"(),*]+)/gy

/** Understands what PostgreSQL accepts: `a, b`, `2 (a, b)`, `FIRST 2 (a, b)`, `ANY 1 (a, "b c")`, `*`. `needed` is 0 for an empty one. */
export function parseStandbyNames(setting: string): StandbyNames {
  const tokens = Array.from(setting.matchAll(TOKEN), ([, token = '']) => token)
  const opening = tokens.indexOf('(')
  const list = (opening === -1 ? tokens : tokens.slice(opening + 1)).filter((token) => !/^[(),]$/.test(token))
  if (list.length === 0) return { needed: 0, names: [] }
  const needed = opening === -1 ? 1 : Number.parseInt(tokens[opening - 1] ?? '', 10)
  return { needed: needed || 1, names: list.map(unquote) }
}

const unquote = (token: string) => (token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token)

/** PostgreSQL ignores the case of their letters. */
export function isNamed(name: string, setting: string): boolean {
  const { names } = parseStandbyNames(setting)
  return names.some((one) => one === '*' || one.toLowerCase() === name.toLowerCase())
}
