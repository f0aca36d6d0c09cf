// A push in its two rows: one that is rarely written, and one that a view changes.

import { LAST_TIME } from '../../domain/time.ts'
import type { StoredPush } from '../pushes-contract.ts'
import type { RowOf } from '../statements.ts'
import type { pushes, pushState } from '../tables.ts'

/**
 * The stored time of the last view of an unopened push. In SQLite it takes two bytes more than a real time,
 * so that the row does not grow with its first view: a row that outgrows its page causes a page split, which
 * also writes neighbouring pages.
 */
export const NOT_VIEWED = LAST_TIME

/**
 * Builds a push from its two rows. Names each column, because spreading a second object takes as long as
 * reading its row.
 */
export function presentPush(push: RowOf<typeof pushes>, state: RowOf<typeof pushState>): StoredPush {
  return {
    ...push,
    updatedAt: state.updatedAt,
    views: state.views,
    lastViewedAt: state.lastViewedAt === NOT_VIEWED ? 0 : state.lastViewedAt,
    wrongTries: state.wrongTries,
    wrongTriesSince: state.wrongTriesSince,
    wrongTriesInAll: state.wrongTriesInAll,
    triesSpent: state.triesSpent,
    auditEntries: state.auditEntries,
    failures: state.failures,
    ownerViews: state.ownerViews,
    edits: state.edits,
    countedFailures: state.countedFailures,
    countedAt: state.countedAt,
    countedFrom: state.countedFrom,
  }
}
