// Opens one push for a program: its text, or its only file, in memory.

import { isUtf8 } from 'node:buffer'
import { readFileSync, rmSync } from 'node:fs'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure } from '../../client/failure.ts'
import { isSealedText } from '../../domain/age-recipient.ts'
import { type AgeKeys, requireAll, requirePosition } from '../age-keys.ts'
import { CommandFailure } from '../failures.ts'
import type { MemoryFolder } from './memory-folder.ts'

export type Opening = {
  client: Pick<PushClient, 'retrieve' | 'downloadPart'>
  urlToken: string
  passphrase: string | null
  /** The key in its link; null without one. */
  keys: AgeKeys | null
  /** Where a file is downloaded to. */
  folder: Pick<MemoryFolder, 'path'>
  /** Called once the view is spent. */
  onSpent: () => void
}

/**
 * Spends a view. Returns the text of the push or, for a push of the kind `file`, the content of its only
 * file. Throws ClientFailure of kind `gone` if it has expired, and `refused` for its passphrase.
 */
export async function openContent({
  client,
  urlToken,
  passphrase,
  keys,
  folder,
  onSpent,
}: Opening): Promise<Uint8Array> {
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
  const part = folder.path('download.part')
  const opened = folder.path('download.open')
  try {
    await client.downloadPart({ ...file, part }, { onProgress: () => undefined, onRetry: () => undefined })
    if (keys !== null) {
      const found = await keys.openFile({ name: file.filename, from: part, to: opened })
      requirePosition(found, file.filename, 1)
      requireAll([found.position], { files: 1 })
    }
    return readFileSync(keys === null ? part : opened)
  } finally {
    rmSync(part, { force: true })
    rmSync(opened, { force: true })
  }
}

/** Whether a variable can hold the secret. A zero byte would end it, and Bun's refusal would repeat it. */
export function canBeVariable(secret: Uint8Array): boolean {
  return !secret.includes(0) && isUtf8(secret)
}
