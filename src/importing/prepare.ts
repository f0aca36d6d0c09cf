// What an import does before its one step: derives the keys of passphrases, and seals files to the disk as uploads, which
// the next start removes when no push takes them.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../crypto/passphrase.ts'
import type { StoredFile } from '../domain/files.ts'
import { IncomingProblem, type IncomingPush, type IncomingSource, isUnreadable } from '../domain/incoming.ts'
import type { Uploads } from '../pushes/uploads.ts'
import { filenameOf, planPush } from './plan-push.ts'

/** What a live push needs besides itself, by the other server's id; `problem` when its files cannot be read. */
export type Prepared =
  | { passphrase: { salt: Buffer; key: Uint8Array } | null; dataKey: Buffer; files: StoredFile[] }
  | { problem: string }

export type PrepareOptions = {
  now: number
  uploads: Uploads
  argon2Cost: Argon2Cost
  /** How many passphrases are derived at once. */
  lanes: number
  isKnown: (urlToken: string) => Promise<boolean>
  onProgress: (done: number, total: number) => void
}

/** Passes over pushes without passphrase and files. */
export async function preparePushes(
  source: IncomingSource,
  options: PrepareOptions,
): Promise<Map<number, Prepared>> {
  const prepared = new Map<number, Prepared>()
  const running = new Set<Promise<void>>()
  let failure: { cause: unknown } | null = null
  let done = 0
  for await (const incoming of source.readPushes()) {
    done += 1
    options.onProgress(done, source.counts.pushes)
    if (failure !== null) break
    if (isUnreadable(incoming) || !needsPreparing(incoming, options.now)) continue
    if (await options.isKnown(incoming.urlToken)) continue
    const work = prepareOne(incoming, options)
      .then((one) => void prepared.set(incoming.id, one))
      .catch((cause) => {
        failure = { cause }
      })
      .finally(() => running.delete(work))
    running.add(work)
    if (running.size >= options.lanes) await Promise.race(running)
  }
  await Promise.all(running)
  if (failure !== null) throw (failure as { cause: unknown }).cause
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
