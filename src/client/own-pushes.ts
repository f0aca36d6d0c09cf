// Reads all of an account's pushes with their logs from a server, a page at a time and so in little memory.

import { MAX_PAGE, PAGE_SIZE } from '../domain/audit.ts'
import type { PushWithLogs } from '../domain/list-export.ts'
import type { PushClient } from './client.ts'
import { ClientFailure } from './failure.ts'

/** For a server that never ends: more pages than an account has. */
const MAX_PAGES = 20_000

/** Concurrent requests for logs: most of the time is network latency. */
const LANES = 4

type Group = 'active' | 'expired'
type Members = Record<string, unknown>
type Page = Pick<Awaited<ReturnType<PushClient['list']>>, 'pushes' | 'members' | 'leftOut'>

/** What came so far, and what cannot come because it is damaged on the server. */
export type OwnPushesReport = { pushes: number; damagedPushes: number; damagedLogs: number }

type OwnPushes = Pick<PushClient, 'list' | 'audit'>

/** Active pushes first. One that expires meanwhile comes once. */
export async function* readOwnPushes(
  client: OwnPushes,
  report: OwnPushesReport,
): AsyncGenerator<PushWithLogs> {
  const seen = new Set<string>()
  for (const group of ['active', 'expired'] as const) {
    for await (const { pushes, members, leftOut } of readPages(client, group)) {
      const fresh = pushes
        .map(({ urlToken }, index) => ({ urlToken, members: members[index] ?? {} }))
        .filter(({ urlToken }) => !seen.has(urlToken))
      for (const { urlToken } of fresh) seen.add(urlToken)
      const found: PushWithLogs[] = []
      for (let at = 0; at < fresh.length; at += LANES) {
        const reads = fresh.slice(at, at + LANES).map((push) => readWithLogs(client, push))
        found.push(...(await Promise.all(reads)).filter((push) => push !== null))
      }
      report.pushes += found.length
      report.damagedPushes += leftOut
      report.damagedLogs += found.filter(({ logs }) => logs === null).length
      yield* found
    }
  }
}

/**
 * Newest first. Goes on from the last push of each page, so that none is missed when others expire; by page
 * numbers where that is unknown.
 */
export async function* readPages(client: Pick<PushClient, 'list'>, group: Group): AsyncGenerator<Page> {
  let before: string | null = null
  let number = 1
  let isNumbered = false
  for (let pages = 0; pages < MAX_PAGES && number <= MAX_PAGE; pages += 1) {
    const page: Page = await client.list(group, number, before)
    if (page.pushes.some(({ urlToken }) => urlToken === before)) {
      // The server has told its first page again.
      isNumbered = true
      before = null
      number = 2
      continue
    }
    yield page
    if (page.pushes.length + page.leftOut < PAGE_SIZE) return
    const last = page.pushes.at(-1)
    // A page of damaged pushes alone has none to go on from.
    number = isNumbered || last === undefined ? number + 1 : 1
    before = isNumbered ? null : (last?.urlToken ?? before)
  }
  throw new ClientFailure(
    'failed',
    isNumbered
      ? `The server lists ${MAX_PAGE * PAGE_SIZE} ${group} pushes only, and there are more.`
      : `The server lists ${group} pushes without end.`,
  )
}

/** Null for a push that was purged meanwhile. */
async function readWithLogs(
  client: OwnPushes,
  { urlToken, members }: { urlToken: string; members: Members },
): Promise<PushWithLogs | null> {
  try {
    return { push: members, logs: await readLogs(client, urlToken) }
  } catch (cause) {
    if (!(cause instanceof ClientFailure)) throw cause
    if (cause.kind === 'gone') return null
    // The server answers 500 for a log that its disk has damaged; whatever else is wrong is wrong with the
    // next push too.
    if (cause.kind === 'failed') return { push: members, logs: null }
    throw cause
  }
}

async function readLogs(client: OwnPushes, urlToken: string): Promise<Members[]> {
  const logs: Members[] = []
  for (let number = 1; number <= MAX_PAGE; number += 1) {
    const { members } = await client.audit(urlToken, number)
    logs.push(...members)
    if (members.length < PAGE_SIZE) break
  }
  return logs
}
