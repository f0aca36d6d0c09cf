// Compares one push of another server with its import.

import { createDigest } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { derivePassphraseKey } from '../crypto/passphrase.ts'
import { deriveFileKey } from '../crypto/sealed-stream.ts'
import { lookupOf } from '../crypto/url-token.ts'
import { type AuditEntry, keptOf } from '../domain/audit.ts'
import { DamageError, isDomainError } from '../domain/errors.ts'
import { type StoredFile, safeContentType } from '../domain/files.ts'
import { isExpired, type Push } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import { type Content, openPush } from '../pushes/content.ts'
import { createGrantedFiles } from '../pushes/granted-files.ts'
import { nameOf, openLabels } from '../pushes/labels.ts'
import type { FoundPush } from '../pushes/push-finder.ts'
import { createRelieve } from '../pushes/relief.ts'
import type { Store } from '../store/contract.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import { type FileToImport, IncomingProblem, type IncomingPush } from './incoming.ts'
import { createMarks } from './marks.ts'
import { filenameOf, type PlannedPush, planPush } from './plan-push.ts'
import type { OnProgress } from './walk.ts'

export type VerifyOptions = {
  store: Pick<
    Store,
    'imports' | 'pushes' | 'lists' | 'audit' | 'files' | 'accounts' | 'apiTokens' | 'damage' | 'bucket'
  >
  keyring: Keyring
  now: Now
  onProgress: OnProgress
}

/** `what` lists the differences, or the reason why the push was not compared. */
export type PushComparison = { state: 'live' | 'expired' | 'gone' | 'failure'; what: string[] }

type Options = Pick<VerifyOptions, 'store' | 'keyring'> & { now: Now; emails: ReadonlyMap<number, string> }

/** Values by their names. */
type Facts = Record<string, unknown>

/** The number of entries of one kind above which a log here is incomplete, and not compared. */
const MOST_ENTRIES = 500

export function createComparePush({ store, keyring, now, emails }: Options) {
  const marks = createMarks(keyring)
  const files = createGrantedFiles({
    ...{ store, now, elapsed: () => performance.now(), lookEvery: 0 },
    relieve: createRelieve(() => Bun.gc(true)),
  })

  async function compare(incoming: IncomingPush): Promise<PushComparison> {
    const planned = planPush(incoming, now())
    if ('problem' in planned) return { state: 'failure', what: [planned.problem] }
    try {
      return await comparePlanned(incoming, planned)
    } catch (cause) {
      if (cause instanceof IncomingProblem) return { state: 'failure', what: [cause.message] }
      if (!(cause instanceof DamageError) && !isDomainError(cause)) throw cause
      return { state: 'live', what: ['it is damaged here, or has ended meanwhile'] }
    }
  }

  async function comparePlanned(incoming: IncomingPush, planned: PlannedPush): Promise<PushComparison> {
    const { live } = planned
    const found = await find(incoming.urlToken)
    if (found === null && (await store.imports.isKnown(marks.push.all(incoming.urlToken))))
      return { state: 'gone', what: [] }
    if (found === null) {
      // The push may be missing because of its files: throw if one of them cannot be read.
      if (live !== null) for (const { open } of incoming.files) await digestOf(open())
      return { state: 'live', what: ['it is not here'] }
    }
    const isOver = isExpired(found.push, now())
    const facts = [
      ...differing(await factsHere(found), factsThere(incoming, planned)),
      ...(found.push.views < planned.push.views ? ['views are missing'] : []),
      ...(live === null && !isOver ? ['it is over there, and live here'] : []),
      ...((await isSameLog(incoming.entries, found.push)) ? [] : ['its audit log differs']),
    ]
    if (live === null || isOver) return { state: 'expired', what: facts }
    return { state: 'live', what: [...facts, ...(await compareContent(incoming, live, found))] }
  }

  async function find(urlToken: string): Promise<FoundPush | null> {
    for (const instanceKey of keyring.keys) {
      const found = await store.pushes.findSealedPush(lookupOf(urlToken, instanceKey.lookup))
      if (found !== null) return { ...found, urlToken, instanceKey }
    }
    return null
  }

  function factsThere(incoming: IncomingPush, { push, name, note }: PlannedPush): Facts {
    const { ownerId, urlToken, createdAt } = incoming
    const owner = ownerId === null ? undefined : emails.get(ownerId)
    const { end, 'time of creation': created, ...facts } = factsOf(push)
    return {
      ...facts,
      ...(createdAt === push.createdAt ? { 'time of creation': created } : {}),
      ...(push.expiredOn === null ? {} : { end }),
      owner,
      ...(owner === undefined ? {} : { name, note, token: urlToken }),
    }
  }

  async function factsHere({ push }: FoundPush): Promise<Facts> {
    const { id, ownerId, lookup: pushId } = push
    if (ownerId === null) return factsOf(push)
    const owner = (await store.accounts.findById(ownerId))?.email
    const sealed = await store.lists.findLabels(id)
    if (sealed === null) return { ...factsOf(push), owner }
    const { urlToken: token, ...labels } = openLabels(sealed, {
      ...{ keyring, pushId, ownerId, pushName: nameOf(push) },
    })
    return { ...factsOf(push), owner, token, ...labels }
  }

  /** Whether the log here begins with the log of the other server. */
  async function isSameLog(all: AuditEntry[], push: StoredPush): Promise<boolean> {
    if (all.length > MOST_ENTRIES) return true
    const entries = keptOf(all, { ownerId: push.ownerId, hasRoom: true })
    const here: AuditEntry[] = []
    for await (const piece of store.audit.readAll(push)) {
      here.push(...piece)
      if (here.length >= entries.length) break
    }
    return entries.every((entry, at) => textOf(entry) === textOf(here[at]))
  }

  async function compareContent(
    incoming: IncomingPush,
    live: NonNullable<PlannedPush['live']>,
    found: FoundPush,
  ): Promise<string[]> {
    const salt = found.sealed?.secrets.passphraseSalt ?? null
    const key = salt === null ? null : await derivePassphraseKey(live.passphrase ?? '', salt)
    const content = (salt === null) === (live.passphrase === null) ? openPush(found, key) : null
    if (content === null) return ['its passphrase differs']
    const differences = content.payload === live.payload ? [] : ['its content differs']
    if (incoming.files.length !== content.files.length)
      return [...differences, 'it has another number of files']
    for (const [at, there] of incoming.files.entries()) {
      const file = content.files[at]
      const isSame = file !== undefined && (await isSameFile(there, { file, content, push: found.push }))
      if (!isSame) differences.push(`its file ${at + 1} differs`)
    }
    return differences
  }

  async function isSameFile(
    there: FileToImport,
    { file, content, push }: { file: StoredFile; content: Content; push: StoredPush },
  ): Promise<boolean> {
    const { filename, contentType, size } = there
    const isNamed =
      filenameOf(filename) === file.filename && safeContentType(contentType) === file.contentType
    if (!isNamed || size !== file.size) return false
    const key = Buffer.from(deriveFileKey(content.dataKey, file.id)).toString('base64')
    const lookup = Buffer.from(push.lookup).toString('hex')
    const readable = await files.openFile({ push: lookup, file: file.id, key, size })
    const here = await digestOf(readable.read({ start: 0, end: size })).finally(readable.close)
    return here === (await digestOf(there.open()))
  }

  return compare
}

/** Returns the facts that never change here. Owners may have shortened limits. */
function factsOf(push: Push) {
  return {
    kind: push.kind,
    'time of creation': push.createdAt,
    'limit in days': push.expireAfterDays,
    'limit in views': push.expireAfterViews,
    'deletion by viewers': push.deletableByViewer,
    'confirmation step': push.retrievalStep,
    end: push.expiredOn,
  }
}

function differing(here: Facts, there: Facts): string[] {
  return Object.keys(there)
    .filter((name) => here[name] !== there[name])
    .map((name) => `its ${name} differs`)
}

function textOf(entry: AuditEntry | undefined): string {
  return JSON.stringify([entry?.kind, entry?.at, entry?.ip, entry?.userAgent, entry?.referrer])
}

async function digestOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createDigest()
  for await (const piece of pieces) digest.update(piece)
  return digest.digest('hex')
}
