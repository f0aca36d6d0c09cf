// The audit log as services read it: by the id of a push.

import type { AuditStore } from '../../face.ts'
import type { AuditRows } from './audit-rows.ts'
import type { PushRows } from './push-rows.ts'

export type AuditLogOptions = {
  rows: Pick<PushRows, 'findById'>
  audit: Pick<AuditRows, 'listPage' | 'readAll'>
}

/** The log of a push that was purged meanwhile is empty. */
export function createAuditLog({ rows, audit }: AuditLogOptions): AuditStore {
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
