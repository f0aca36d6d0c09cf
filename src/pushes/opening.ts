// Decrypts the content of a push with its link and, if it has one, its passphrase. Counts nothing.

import { openSecrets } from '../crypto/push-secrets.ts'
import { DamageError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import { openFile } from './file-names.ts'
import { nameOf } from './owner-lists.ts'
import type { FoundPush } from './push-finder.ts'

export type Content = { payload: string; dataKey: Buffer; files: StoredFile[] }

/** Null for an expired push and for a wrong passphrase. Throws DamageError when the link alone should open the push. */
export function openPush(found: FoundPush, passphraseKey: Uint8Array | null): Content | null {
  const { push, sealed, instanceKey, urlToken } = found
  if (sealed === null) return null
  if (push.keyNumber !== instanceKey.number) throw new DamageError(nameOf(push))
  const { lookup: pushId, keyNumber } = push
  const opened = openSecrets(sealed.secrets, { instanceKey, pushId, urlToken, passphraseKey })
  if (opened === null && push.passphraseRequired) return null
  if (opened === null || opened.payload === null) throw new DamageError(nameOf(push))
  const { payload, dataKey } = opened
  const place = { pushId, dataKey, keyNumber, pushName: nameOf(push) }
  return { payload, dataKey, files: sealed.files.map((file) => openFile(file, place)) }
}
