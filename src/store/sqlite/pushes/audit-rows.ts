// The audit log of each push: a chain of entries, and the counts of what is in it and what is only counted.

import {
  type AuditEntry,
  countEntry,
  EMPTY_COUNTS,
  type LogCounts,
  type LogPlace,
  PAGE_SIZE,
} from '../../../domain/audit.ts'
import type { AuditStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import { type Chain, createAuditChains, type EntryRow, type NewEntry } from './audit-chains.ts'

/** The last entry of a push, and what its log counts. */
export type Log = LogCounts & { lastEntry: number | null }

type LogOfPush = Log & { id: number }

export const EMPTY_LOG: Log = { ...EMPTY_COUNTS, lastEntry: null }

/** Entries in one piece of `readAll`. */
const PIECE = 1_000

export type AuditRows = ReturnType<typeof createAuditRows>

/** `hasRoom`: false while the disk has too little room for entries that may be left out. */
export function createAuditRows(connection: Connection, hasRoom: () => boolean) {
  const chains = createAuditChains(connection)

  /** Adds an entry, or only counts it; returns a copy of the push, with its log as it is then. */
  function append<P extends LogOfPush & Pick<LogPlace, 'ownerId'>>(push: P, entry: NewEntry): P {
    const { ownerId } = push
    const { counts, isKept } = countEntry(push, entry, { ownerId, hasRoom: hasRoom() })
    return { ...push, ...counts, lastEntry: isKept ? chains.append(chainOf(push), entry) : push.lastEntry }
  }

  /** Oldest first; `pageNumber` counts from 1. Throws when an entry is missing or was altered on disk. */
  function listPage(log: LogOfPush, pageNumber: number): AuditEntry[] {
    const from = (pageNumber - 1) * PAGE_SIZE
    const to = Math.min(from + PAGE_SIZE, log.auditEntries)
    return chains.read(chainOf(log), { from, to }).map(presentEntry)
  }

  /** The whole log, oldest first, in pieces, because it may be long. */
  function* readAll(log: LogOfPush): Generator<AuditEntry[]> {
    for (let from = 0; from < log.auditEntries; from += PIECE) {
      const to = Math.min(from + PIECE, log.auditEntries)
      yield chains.read(chainOf(log), { from, to }).map(presentEntry)
    }
  }

  /**
   * Deletes the log from its end, at most `most` entries. Returns what is left of it, or null. `broken`: the chain does not
   * lead to all entries, because the disk altered one.
   */
  function shorten(log: LogOfPush, most: number): Log | null | 'broken' {
    const from = Math.max(0, log.auditEntries - most)
    const { removed, last } = chains.removeFrom(chainOf(log), from)
    if (removed !== log.auditEntries - from) return 'broken'
    return from === 0 ? null : { ...EMPTY_LOG, lastEntry: last, auditEntries: from }
  }

  return { append, listPage, readAll, shorten }
}

function chainOf({ id: pushId, lastEntry: last, auditEntries: length }: LogOfPush): Chain {
  return { pushId, last, length }
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
