// Opens one push for a program: its text, or its only file, in memory.

import { isUtf8 } from 'node:buffer'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure } from '../../client/failure.ts'
import { isSealedText } from '../../domain/age-recipient.ts'
import { type AgeKeys, requireAll, requirePosition } from '../age-keys.ts'
import { CommandFailure } from '../failures.ts'

type PushToOpen = {
  client: Pick<PushClient, 'retrieve' | 'downloadBytes'>
  urlToken: string
  passphrase: string | null
  /** The key in the link of the push; null if it has none. */
  keys: AgeKeys | null
  /** Called once a view has been used up. */
  onSpent: () => void
}

/**
 * Uses up a view. Returns the text of the push; for a push of the kind `file`, the content of its only file.
 * Throws ClientFailure of kind `gone` if it has expired, and `refused` for its passphrase.
 */
export async function openContent(push: PushToOpen): Promise<Uint8Array> {
  const { client, urlToken, passphrase, keys, onSpent } = push
  const retrieved = await client.retrieve(urlToken, passphrase)
  if (retrieved.outcome === 'passphrase_wanted') throw new ClientFailure('refused', retrieved.message)
  const { payload, files, kind, expired } = retrieved.push
  if (expired) throw new ClientFailure('gone', 'It has expired.')
  onSpent()
  const [file, ...others] = files
  if (kind !== 'file' && payload !== null) {
    if (keys !== null) return Buffer.from(await keys.openText(payload))
    if (isSealedText(payload)) throw new CommandFailure('It is encrypted for a key that is not here.')
    return Buffer.from(payload)
  }
  if (file === undefined || others.length > 0)
    throw new CommandFailure(
      `It holds ${file === undefined ? 'nothing' : 'several files'}, where one text or file is needed.`,
    )
  const bytes = await client.downloadBytes(file)
  if (keys === null) return bytes
  const pieces: Uint8Array[] = []
  const opened = await keys.pourFile(file.filename, new Blob([bytes]), (piece) => void pieces.push(piece))
  requirePosition(opened, file.filename, 1)
  requireAll([opened.position], 1)
  return Buffer.concat(pieces)
}

/**
 * Whether a variable can hold the secret. A zero byte would end the value, and Bun's error message would
 * quote it.
 */
export function canBeVariable(secret: Uint8Array): boolean {
  return !secret.includes(0) && isUtf8(secret)
}
