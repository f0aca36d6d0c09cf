// The audit log of each push, in three chains. The main chain keeps all other entries and the first failures; one keeps the
// latest of the later failures, and one the latest `owner_view` entries.

import {
  type AuditEntry,
  countEntry,
  countLate,
  countListed,
  LATEST_FAILURES,
  LATEST_OWNER_VIEWS,
  PAGE_SIZE,
} from '../../../domain/audit.ts'
import type { AuditStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import {
  type AuditChains,
  type Chain,
  createAuditChains,
  type EntryRow,
  type NewEntry,
} from './audit-chains.ts'

/** The last entry and the length of each chain of a push. 0 means no entry, also in rows of older versions. */
export type Log = {
  lastEntry: number | null
  auditEntries: number
  failures: number
  lastFailure: number
  ownerViews: number
  lastOwnerView: number
}

type LogOfPush = Log & { id: number }

export const EMPTY_LOG: Log = {
  lastEntry: null,
  auditEntries: 0,
  failures: 0,
  lastFailure: 0,
  ownerViews: 0,
  lastOwnerView: 0,
}

/** Entries beyond a bound that may accumulate, so that one walk along the chain deletes many of them. */
const SLACK = 250
/** Entries in one piece of `readAll`. */
const PIECE = 1_000

export type AuditRows = ReturnType<typeof createAuditRows>

export function createAuditRows(connection: Connection) {
  const chains = createAuditChains(connection)

  /** Adds an entry; returns a copy of the push, with its log as it is then. */
  function append<P extends LogOfPush>(push: P, entry: NewEntry): P {
    const { counts, bound } = countEntry(push, entry.kind)
    if (bound === 'owner_views')
      return { ...push, ...counts, lastOwnerView: appendLatest(ownLooksOf(push), entry, LATEST_OWNER_VIEWS) }
    if (bound === 'failures')
      return { ...push, ...counts, lastFailure: appendLatest(lateFailuresOf(push), entry, LATEST_FAILURES) }
    return { ...push, ...counts, lastEntry: chains.append(mainOf(push), entry) }
  }

  function appendLatest(chain: Chain, entry: NewEntry, keep: number): number {
    const last = chains.append(chain, entry)
    const length = chain.length + 1
    if (keptOf(length, keep) === keep && length > keep) chains.cut({ ...chain, last }, length - keep)
    return last
  }

  /** Oldest first; `pageNumber` counts from 1. Throws when an entry is missing or was altered on disk. */
  function listPage(log: LogOfPush, pageNumber: number): AuditEntry[] {
    const from = (pageNumber - 1) * PAGE_SIZE
    const to = Math.min(from + PAGE_SIZE, countListed(log))
    if (from >= to) return []
    const latest = readLatest(log)
    // Skips entries of the main chain that come before this page in any case.
    const skipped = Math.max(0, from - latest.length)
    const main = chains.read(mainOf(log), { from: skipped, to: Math.min(to, log.auditEntries) })
    return merge(main, latest)
      .slice(from - skipped, to - skipped)
      .map(presentEntry)
  }

  /** The whole log, oldest first, in pieces, because it may be long. */
  function* readAll(log: LogOfPush): Generator<AuditEntry[]> {
    let latest = readLatest(log)
    for (let from = 0; from < log.auditEntries; from += PIECE) {
      const main = chains.read(mainOf(log), { from, to: Math.min(from + PIECE, log.auditEntries) })
      const until = main.at(-1)?.id ?? 0
      yield merge(
        main,
        latest.filter(({ id }) => id < until),
      ).map(presentEntry)
      latest = latest.filter(({ id }) => id > until)
    }
    if (latest.length > 0) yield latest.map(presentEntry)
  }

  function readLatest(log: LogOfPush): EntryRow[] {
    const failures = latestOf(chains, lateFailuresOf(log), LATEST_FAILURES)
    return merge(failures, latestOf(chains, ownLooksOf(log), LATEST_OWNER_VIEWS))
  }

  /**
   * Deletes the log from its end, at most `most` entries of its main chain. Returns what is left of it, or null. `broken`:
   * the chains do not lead to all entries, because the disk altered one.
   */
  function shorten(log: LogOfPush, most: number): Log | null | 'broken' {
    const from = Math.max(0, log.auditEntries - most)
    const { removed, last } = chains.removeFrom(mainOf(log), from)
    const isWhole =
      removed === log.auditEntries - from &&
      removeLatest(lateFailuresOf(log), LATEST_FAILURES) &&
      removeLatest(ownLooksOf(log), LATEST_OWNER_VIEWS)
    if (!isWhole) return 'broken'
    return from === 0 ? null : { ...EMPTY_LOG, lastEntry: last, auditEntries: from }
  }

  function removeLatest(chain: Chain, keep: number): boolean {
    return chains.removeFrom(chain, 0).removed === keptOf(chain.length, keep)
  }

  return { append, listPage, readAll, shorten }
}

/** How many rows a chain of this length has, when only the latest are kept. */
function keptOf(length: number, keep: number): number {
  return length < keep + SLACK ? length : keep + ((length - keep) % SLACK)
}

function latestOf(chains: AuditChains, chain: Chain, keep: number): EntryRow[] {
  return chains.read(chain, { from: Math.max(0, chain.length - keep), to: chain.length })
}

function mainOf({ id: pushId, lastEntry: last, auditEntries: length }: LogOfPush): Chain {
  return { pushId, last, length, hasMarks: true }
}

function lateFailuresOf({ id: pushId, lastFailure, failures }: LogOfPush): Chain {
  return {
    pushId,
    last: lastFailure || null,
    length: countLate(failures),
    hasMarks: false,
  }
}

function ownLooksOf({ id: pushId, lastOwnerView, ownerViews: length }: LogOfPush): Chain {
  return { pushId, last: lastOwnerView || null, length, hasMarks: false }
}

/** Ids ascend with time. */
function merge(some: EntryRow[], others: EntryRow[]): EntryRow[] {
  return others.length === 0 ? some : [...some, ...others].sort((a, b) => a.id - b.id)
}

function presentEntry({ kind, at, ip, userAgent, referrer }: EntryRow): AuditEntry {
  return { kind, at, ip, userAgent, referrer }
}

/** The audit log for the services, by the id of a push. The log of a push that was purged meanwhile is empty. */
export function createAuditLog(options: {
  rows: { findById(id: number): LogOfPush | undefined }
  audit: Pick<AuditRows, 'listPage' | 'readAll'>
}): AuditStore {
  const { rows, audit } = options
  return {
    listPage: async ({ id }, pageNumber) => {
      const push = rows.findById(id)
      return push === undefined ? [] : audit.listPage(push, pageNumber)
    },
    readAll: async function* ({ id }) {
      const push = rows.findById(id)
      if (push !== undefined) yield* audit.readAll(push)
    },
  }
}
