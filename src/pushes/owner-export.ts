// Reads all of an account's pushes and their logs, one after another, for an export.

import type { Account } from '../domain/account.ts'
import type { AuditEntry } from '../domain/audit.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { LabelledPush, ListOptions, PageOfPushes } from './owner-lists.ts'

/** The audit log of a push, oldest entry first. The reader's permission has been checked. */
export type OpenLog = {
  listPage(pageNumber: number): Promise<AuditEntry[]>
  /** The whole log, in parts. */
  readAll(): AsyncIterable<AuditEntry[]>
}

/** How long an export may block the event loop before it lets other requests run, in milliseconds. */
const SLICE_MS = 8

export type ExportedPush = LabelledPush & { log: AuditEntry[] }

type StoredLabelled = LabelledPush & { push: StoredPush }

type Options = {
  list: (account: Account, options: ListOptions) => Promise<PageOfPushes<StoredLabelled>>
  logOf: (push: StoredPush) => OpenLog
}

export function createOwnerExport({ list, logOf }: Options) {
  /**
   * Yields active pushes, then expired ones, each newest first. Yields a push that expires meanwhile only
   * once, as it was when read. Skips damaged pushes.
   */
  async function* readAllOf(account: Account): AsyncGenerator<ExportedPush> {
    const active = new Set<number>()
    let started = performance.now()
    for (const expired of [false, true]) {
      for await (const push of readList(account, expired)) {
        if (expired && active.has(push.push.id)) continue
        if (!expired) active.add(push.push.id)
        yield { ...push, log: (await Array.fromAsync(logOf(push.push).readAll())).flat() }
        if (performance.now() - started < SLICE_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        started = performance.now()
      }
    }
  }

  async function* readList(account: Account, expired: boolean): AsyncGenerator<StoredLabelled> {
    let beforeId: number | null = null
    let pageNumber = 1
    for (let isFull = true; isFull; ) {
      const page: PageOfPushes<StoredLabelled> = await list(account, { expired, pageNumber, beforeId })
      yield* page.pushes
      const last = page.pushes.at(-1)
      // If all pushes of a page are damaged, there is no id to continue from: ask for the next page by
      // number.
      pageNumber = last === undefined ? pageNumber + 1 : 1
      beforeId = last?.push.id ?? beforeId
      isFull = page.isFull
    }
  }

  return { readAllOf }
}
