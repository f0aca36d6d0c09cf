// Prepares an import before its single transaction: derives the keys of passphrases, and seals files as
// uploads. If no push uses them, the next start removes them.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../crypto/passphrase.ts'
import type { StoredFile } from '../domain/files.ts'
import type { Uploads } from '../pushes/uploads.ts'
import { IncomingProblem, type IncomingPush, type IncomingSource, isUnreadable } from './incoming.ts'
import { filenameOf, planPush } from './plan-push.ts'

/** The keys and sealed files of a live push. If it has no files, any data key will do. */
export type Ready = {
  passphrase: { salt: Buffer; key: Uint8Array } | null
  dataKey?: Buffer
  files: StoredFile[]
}

/** `problem`: why its files cannot be imported. */
export type Prepared = Ready | { problem: string }

/** The result for a push without passphrase and files. */
export const NOTHING_PREPARED: Ready = { passphrase: null, files: [] }

export type PrepareOptions = {
  now: number
  uploads: Uploads
  argon2Cost: Argon2Cost
  /** How many keys are derived at once. */
  lanes: number
  isKnown: (urlToken: string) => Promise<boolean>
  onProgress: (done: number, total: number) => void
}

/**
 * Prepares pushes, by the other server's ids, as many at once as there are lanes. Skips pushes without
 * passphrase and files. After a failure, starts no more and throws once the running ones have ended.
 */
export async function preparePushes(
  source: IncomingSource,
  options: PrepareOptions,
): Promise<Map<number, Prepared>> {
  const prepared = new Map<number, Prepared>()
  let done = 0
  const rest = source.readPushes()
  const runLane = async () => {
    // A lane that throws closes the generator for all lanes.
    for await (const incoming of rest) {
      done += 1
      options.onProgress(done, source.pushes)
      if (isUnreadable(incoming) || !needsPreparing(incoming, options.now)) continue
      if (!(await options.isKnown(incoming.urlToken)))
        prepared.set(incoming.id, await prepareOne(incoming, options))
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: options.lanes }, runLane))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return prepared
}

function needsPreparing(incoming: IncomingPush, now: number): boolean {
  const planned = planPush(incoming, now)
  if ('problem' in planned || planned.live === null) return false
  return planned.live.passphrase !== null || incoming.files.length > 0
}

async function prepareOne(incoming: IncomingPush, options: PrepareOptions): Promise<Prepared> {
  const upload = options.uploads.begin()
  try {
    for (const { filename, contentType, open } of incoming.files)
      await upload.add({ filename: filenameOf(filename), contentType, content: open() })
  } catch (cause) {
    await upload.discard()
    if (cause instanceof IncomingProblem) return { problem: cause.message }
    throw cause
  }
  const passphrase = await derive(incoming.passphrase ?? '', options)
  return { passphrase, dataKey: upload.dataKey, files: upload.listFiles() }
}

async function derive(passphrase: string, { argon2Cost }: PrepareOptions) {
  if (passphrase === '') return null
  const salt = newPassphraseSalt(argon2Cost)
  return { salt, key: await derivePassphraseKey(passphrase, salt) }
}

/** Reads all files and stores none, for dry runs. Reports why they cannot be imported. */
export async function lookAtFiles({ files }: Pick<IncomingPush, 'files'>): Promise<Prepared> {
  try {
    for (const { open } of files) for await (const _piece of open());
    return NOTHING_PREPARED
  } catch (cause) {
    if (cause instanceof IncomingProblem) return { problem: cause.message }
    throw cause
  }
}
