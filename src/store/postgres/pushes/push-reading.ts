// Finds single pushes, and changes nothing.

import { DamageError } from '../../../domain/errors.ts'
import { isExpired } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { PushStore, SealedPush, StoredPush } from '../../face.ts'
import type { Read, Session } from '../engine/database.ts'
import { findById, findByLookup, readContent, readGranted } from './push-rows.ts'
import { mend, presentPush } from './stored-push.ts'

export type PushReading = Pick<PushStore, 'findPush' | 'findSealedPush' | 'hasGrants'>

export function createPushReading({ read, now }: { read: Read; now: Now }): PushReading {
  async function findPush(lookup: Uint8Array, { toEnd = false } = {}): Promise<StoredPush | null> {
    const row = await read((session) => findByLookup(session, lookup))
    if (row === undefined) return null
    return presentPush(toEnd ? mend(row, { now: now(), hasLapsed: false }) : row)
  }

  function findSealedPush(lookup: Uint8Array): Promise<SealedPush | null> {
    return read(async (session) => {
      const row = await findByLookup(session, lookup)
      return row === undefined ? null : withContent(session, presentPush(row))
    })
  }

  async function withContent(session: Session, push: StoredPush): Promise<SealedPush | null> {
    if (isExpired(push, now())) return { push, sealed: null }
    const sealed = await readContent(session, push)
    if (sealed !== null) return { push, sealed }
    // The push may have ended or been purged since its row was read.
    const later = await findById(session, push.id)
    if (later === undefined) return null
    if (later.expiredOn === null) throw new DamageError(`push ${push.id}`, 'server')
    return { push: presentPush(later), sealed: null }
  }

  async function hasGrants({ id, files, expiredOn }: StoredPush): Promise<boolean> {
    if (files === 0 || expiredOn === null) return false
    const granted = await read((session) => readGranted(session, { ids: [id], now: now() }))
    return granted.has(id)
  }

  return { findPush, findSealedPush, hasGrants }
}
