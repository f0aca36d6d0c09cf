// The statements that read single pushes and what belongs to them.

import type { SealedContent, SealedFile, SealedSecrets } from '../../face.ts'
import type { Session } from '../engine/database.ts'
import { columnsTo } from '../schema/rows.ts'
import { pushes, pushFiles } from '../schema/schema.ts'
import type { PushRow } from './stored-push.ts'

export const PUSH_COLUMNS = columnsTo(pushes)

const BY_ID = `SELECT ${PUSH_COLUMNS} FROM pushes WHERE id = $1::bigint`
const BY_LOOKUP = `SELECT ${PUSH_COLUMNS} FROM pushes WHERE lookup = $1::bytea`

export async function findById(session: Session, id: number): Promise<PushRow | undefined> {
  const [row] = await session.query<PushRow>(BY_ID, [id])
  return row
}

export async function findByLookup(session: Session, lookup: Uint8Array): Promise<PushRow | undefined> {
  const [row] = await session.query<PushRow>(BY_LOOKUP, [lookup])
  return row
}

const LOCKED = `SELECT ${PUSH_COLUMNS} FROM pushes WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE`

/** Locks these pushes until the end of the transaction, in the order of their ids. */
export function lockPushes(session: Session, ids: readonly number[]): Promise<PushRow[]> {
  return session.query<PushRow>(LOCKED, [ids])
}

export type FileRow = SealedFile & { pushId: number }

const FILES = `SELECT ${columnsTo(pushFiles)} FROM push_files WHERE push_id = ANY($1::bigint[]) ORDER BY push_id, n`

/** The files of those of these pushes that are live, in their order. */
export function readFiles(session: Session, ids: readonly number[]): Promise<FileRow[]> {
  return session.query<FileRow>(FILES, [ids])
}

const SECRETS = `
  SELECT salt, wrapped_key AS "wrappedKey", passphrase_salt AS "passphraseSalt", payload
  FROM push_secrets WHERE push_id = $1::bigint`

/** Null when some of it is missing. */
export async function readContent(
  session: Session,
  push: Pick<PushRow, 'id' | 'files'>,
): Promise<SealedContent | null> {
  const [secrets] = await session.query<SealedSecrets>(SECRETS, [push.id])
  const rows = push.files === 0 ? [] : await readFiles(session, [push.id])
  if (secrets === undefined || rows.length !== push.files) return null
  return { secrets, files: rows.map(({ pushId, ...file }) => file) }
}

const GRANTED = `
  SELECT DISTINCT push_id::float8 AS id FROM files_due WHERE push_id = ANY($1::bigint[]) AND at > $2::bigint`

/** Those of these pushes whose files can still be downloaded after a last view. */
export async function readGranted(
  session: Session,
  { ids, now }: { ids: readonly number[]; now: number },
): Promise<Set<number>> {
  const rows = await session.query<{ id: number }>(GRANTED, [ids, now])
  return new Set(rows.map(({ id }) => id))
}
