// Reads all of an account's pushes with their logs from a server, one page at a time to save memory.

import { MAX_PAGE, PAGE_SIZE } from '../domain/audit.ts'
import type { PushWithLogs } from '../domain/list-export.ts'
import type { PushClient } from './client.ts'
import { ClientFailure } from './failure.ts'

/** An upper bound on the pages of an account, so that a server cannot send pages without end. */
const MAX_PAGES = 20_000

/** Concurrent requests for logs: most of the time is network latency. */
const LANES = 4

type Group = 'active' | 'expired'
type Members = Record<string, unknown>
type Page = Pick<Awaited<ReturnType<PushClient['list']>>, 'pushes' | 'members' | 'leftOut'>

/** Counts what was read so far, and what the server could not send because it is damaged there. */
export type OwnPushesReport = { pushes: number; damagedPushes: number; damagedLogs: number }

type OwnPushes = Pick<PushClient, 'list' | 'audit'>

/** Yields active pushes first. Yields a push that expires meanwhile only once. */
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
 * Yields pages, newest first. Asks for each page by the last push of the previous one, so that it misses none
 * when others expire; by page number if the server does not support that.
 */
export async function* readPages(client: Pick<PushClient, 'list'>, group: Group): AsyncGenerator<Page> {
  let before: string | null = null
  let number = 1
  let isNumbered = false
  for (let pages = 0; pages < MAX_PAGES && number <= MAX_PAGE; pages += 1) {
    const page: Page = await client.list(group, number, before)
    if (page.pushes.some(({ urlToken }) => urlToken === before)) {
      // Stop: the server ignored `before` and sent its first page again.
      isNumbered = true
      before = null
      number = 2
      continue
    }
    yield page
    if (page.pushes.length + page.leftOut < PAGE_SIZE) return
    const last = page.pushes.at(-1)
    // Use page numbers if all pushes of a page are damaged, because there is no last push to continue after.
    number = isNumbered || last === undefined ? number + 1 : 1
    before = isNumbered ? null : (last?.urlToken ?? before)
  }
  throw new ClientFailure(
    'failed',
    isNumbered
      ? `The server lists at most ${MAX_PAGE * PAGE_SIZE} ${group} pushes, and there are more.`
      : `The server lists ${group} pushes without end: gave up after ${MAX_PAGES} pages.`,
  )
}

/** Resolves to null for a push that was purged meanwhile. */
async function readWithLogs(
  client: OwnPushes,
  { urlToken, members }: { urlToken: string; members: Members },
): Promise<PushWithLogs | null> {
  try {
    return { push: members, logs: await readLogs(client, urlToken) }
  } catch (cause) {
    if (!(cause instanceof ClientFailure)) throw cause
    if (cause.kind === 'gone') return null
    // The server answers 500 for a log that is damaged on its disk. Any other failure would affect the next
    // push as well.
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
