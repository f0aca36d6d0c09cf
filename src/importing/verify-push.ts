// Compares one push of another server with what became of it here.

import { createDigest } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { derivePassphraseKey } from '../crypto/passphrase.ts'
import { deriveFileKey } from '../crypto/sealed-stream.ts'
import { lookupOf } from '../crypto/url-token.ts'
import { type AuditEntry, keptOf } from '../domain/audit.ts'
import { DamageError, isDomainError } from '../domain/errors.ts'
import { type StoredFile, safeContentType } from '../domain/files.ts'
import { type IncomingFile, IncomingProblem, type IncomingPush } from '../domain/incoming.ts'
import { isExpired } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import { createGrantedFiles } from '../pushes/granted-files.ts'
import { openLabels } from '../pushes/labels.ts'
import { type Content, openPush } from '../pushes/opening.ts'
import { nameOf } from '../pushes/owner-lists.ts'
import type { FoundPush } from '../pushes/push-finder.ts'
import { createRelieve } from '../pushes/relief.ts'
import type { Store, StoredPush } from '../store/face.ts'
import { findDamage } from './damaged-files.ts'
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

/** `what` are differences, or why there is nothing to compare. */
export type PushComparison = { state: 'live' | 'expired' | 'gone' | 'failure'; what: string[] }

type Options = Pick<VerifyOptions, 'store' | 'keyring'> & { now: Now; emails: ReadonlyMap<number, string> }

/** More failures and looks than this are not all kept here, so that such logs are not compared. */
const MOST_ENTRIES = 500

export function createComparePush({ store, keyring, now, emails }: Options) {
  const marks = createMarks(keyring)
  const files = createGrantedFiles({
    ...{ store, now, elapsed: () => performance.now(), lookEvery: 0 },
    relieve: createRelieve(() => Bun.gc(true)),
  })

  function compare(incoming: IncomingPush): Promise<PushComparison> {
    return compareIntact(incoming).catch((cause) => {
      if (!(cause instanceof DamageError)) throw cause
      return { state: 'live', what: ['it is damaged here'] }
    })
  }

  async function compareIntact(incoming: IncomingPush): Promise<PushComparison> {
    const planned = planPush(incoming, now())
    if ('problem' in planned) return { state: 'failure', what: [planned.problem] }
    const found = await find(incoming.urlToken)
    if (found === null) {
      const came = await store.imports.isKnown(marks.push.all(incoming.urlToken))
      if (came) return { state: 'gone', what: [] }
      const damage = planned.live === null ? null : await findDamage(incoming.files)
      return damage === null
        ? { state: 'live', what: ['it is not here'] }
        : { state: 'failure', what: [damage] }
    }
    const facts = [
      ...compareFacts(incoming, planned, found.push),
      ...(await compareOwner(incoming, planned, found)),
    ]
    const log = await compareLog(incoming.entries, found.push)
    const isOver = isExpired(found.push, now())
    if (planned.live === null && !isOver) facts.push('it is over there, and live here')
    if (planned.live === null || isOver) return { state: 'expired', what: [...facts, ...log] }
    const content = await compareContent(incoming, planned.live, found)
    return { state: 'live', what: [...facts, ...log, ...content] }
  }

  async function find(urlToken: string): Promise<FoundPush | null> {
    for (const instanceKey of keyring.keys) {
      const found = await store.pushes.findSealedPush(lookupOf(urlToken, instanceKey.lookup))
      if (found !== null) return { ...found, urlToken, instanceKey }
    }
    return null
  }

  async function compareOwner(
    { ownerId, urlToken }: IncomingPush,
    { name, note }: PlannedPush,
    { push }: FoundPush,
  ): Promise<string[]> {
    const there = ownerId === null ? null : (emails.get(ownerId) ?? null)
    const here = push.ownerId === null ? null : await store.accounts.findById(push.ownerId)
    if ((here?.email ?? null) !== there) return ['its owner differs']
    if (push.ownerId === null) return []
    const sealed = await store.lists.findLabels(push.id)
    if (sealed === null) return ['its labels are missing']
    const labels = openLabels(sealed, {
      keyring,
      pushId: push.lookup,
      ownerId: push.ownerId,
      pushName: nameOf(push),
    })
    const pairs = { name: [labels.name, name], note: [labels.note, note], token: [labels.urlToken, urlToken] }
    return differing(pairs)
  }

  /** The log here begins with the log there. */
  async function compareLog(all: AuditEntry[], push: StoredPush): Promise<string[]> {
    if (all.length > MOST_ENTRIES) return []
    const entries = keptOf(all, { ownerId: push.ownerId, hasRoom: true })
    const here: AuditEntry[] = []
    for await (const piece of store.audit.readAll(push)) {
      here.push(...piece)
      if (here.length >= entries.length) break
    }
    const isSame = entries.every((entry, at) => textOf(entry) === textOf(here[at]))
    return isSame ? [] : ['its audit log differs']
  }

  async function compareContent(
    incoming: IncomingPush,
    live: NonNullable<PlannedPush['live']>,
    found: FoundPush,
  ): Promise<string[]> {
    const salt = found.sealed?.secrets.passphraseSalt ?? null
    if ((salt === null) !== (live.passphrase === null)) return ['its passphrase differs']
    const key = salt === null ? null : await derivePassphraseKey(live.passphrase ?? '', salt)
    const content = openPush(found, key)
    if (content === null) return ['its passphrase differs']
    const payload = content.payload === live.payload ? [] : ['its content differs']
    return [...payload, ...(await compareFiles(incoming.files, { content, push: found.push }))]
  }

  async function compareFiles(
    there: IncomingFile[],
    { content, push }: { content: Content; push: StoredPush },
  ): Promise<string[]> {
    if (there.length !== content.files.length) return ['it has another number of files']
    const differences: string[] = []
    for (const [at, file] of content.files.entries()) {
      const incoming = there[at]
      if (incoming === undefined || !(await isSameFile(incoming, { file, content, push })))
        differences.push(`its file ${at + 1} differs`)
    }
    return differences
  }

  async function isSameFile(
    there: IncomingFile,
    { file, content, push }: { file: StoredFile; content: Content; push: StoredPush },
  ): Promise<boolean> {
    const { filename, contentType, size } = there
    const isNamed =
      filenameOf(filename) === file.filename && safeContentType(contentType) === file.contentType
    if (!isNamed || size !== file.size) return false
    const key = Buffer.from(deriveFileKey(content.dataKey, file.id)).toString('base64')
    const wanted = { push: Buffer.from(push.lookup).toString('hex'), file: file.id, key, size }
    try {
      const readable = await files.openFile(wanted)
      const here = digestOf(readable.read({ start: 0, end: size })).finally(readable.close)
      return (await here) === (await digestOf(there.open()))
    } catch (cause) {
      if (cause instanceof IncomingProblem || cause instanceof DamageError || isDomainError(cause))
        return false
      throw cause
    }
  }

  return compare
}

/** What never changes here, and what only grows. Limits may have been shortened by the owner. */
function compareFacts(incoming: IncomingPush, { push: there }: PlannedPush, here: StoredPush): string[] {
  const isKept = incoming.createdAt === there.createdAt
  const pairs = {
    kind: [here.kind, there.kind],
    ...(isKept ? { 'time of creation': [here.createdAt, there.createdAt] } : {}),
    'limit in days': [here.expireAfterDays, there.expireAfterDays],
    'limit in views': [here.expireAfterViews, there.expireAfterViews],
    'deletion by viewers': [here.deletableByViewer, there.deletableByViewer],
    'confirmation step': [here.retrievalStep, there.retrievalStep],
    ...(there.expiredOn === null ? {} : { end: [here.expiredOn, there.expiredOn] }),
  }
  return [...differing(pairs), ...(here.views < there.views ? ['views are missing'] : [])]
}

function differing(pairs: Record<string, unknown[]>): string[] {
  return Object.entries(pairs)
    .filter(([, [here, there]]) => here !== there)
    .map(([name]) => `its ${name} differs`)
}

function textOf(entry: AuditEntry | undefined): string {
  return entry === undefined
    ? ''
    : JSON.stringify([entry.kind, entry.at, entry.ip, entry.userAgent, entry.referrer])
}

async function digestOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createDigest()
  for await (const piece of pieces) digest.update(piece)
  return digest.hex()
}
