// Creates a push: its link, its keys and its rows. A repeated idempotency key gets the first answer again.

import type { Keyring } from '../crypto/keyring.ts'
import { codeOf, sealSecrets } from '../crypto/push-secrets.ts'
import { lookupOf, newUrlToken } from '../crypto/url-token.ts'
import type { Viewer } from '../domain/audit.ts'
import { isDomainError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import type { NewPush } from '../domain/new-push.ts'
import { type Push, UNTOUCHED } from '../domain/push.ts'
import { shareBytes } from '../domain/shares.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { KeyToStore } from '../store/pushes-contract.ts'
import { sealFile } from './content.ts'
import { type FirstAnswer, fingerprintOfPush, type KeyedAttempt, requireSameFields } from './idempotency.ts'
import { sealLabels } from './labels.ts'
import type { ShareOf } from './limits.ts'
import type { LinkMails } from './link-mails.ts'
import type { LabelledPush } from './owner-lists.ts'
import type { Passphrases } from './passphrases.ts'
import type { Upload } from './uploads.ts'

/** `code`: the code beside the link; null without one. */
export type CreatedPush = LabelledPush & { files: readonly StoredFile[]; code: string | null }

/** Marks a new push as an answer to a request for a secret: it belongs to the owner of the request. */
export type RequestAnswer = {
  requestId: number
  urlToken: string
  ownerId: number
  /** The reservation that the answer's upload has made; null for other pushes. */
  reservation: number | null
  /** Encrypts the text for the owner, once the push is known to be new; null without a recipient. */
  encrypt: ((text: string) => Promise<string>) | null
}

export type CreateOptions = {
  viewer: Viewer
  upload: Upload
  answer?: RequestAnswer
  /** The attempt with an idempotency key; null without a key. */
  attempt: KeyedAttempt | null
  /** Throws if the client has disconnected. Called within the commit. */
  requireOpen?: () => void
}

type Creation = Omit<CreateOptions, 'attempt'>
type KeepKey = (made: { urlToken: string; createdAt: number }) => KeyToStore | null

type Repeat = { made: FirstAnswer; fingerprint: Buffer; upload: Upload }

export function createCreatePush(options: {
  store: Pick<Store, 'pushes' | 'freeSpace'>
  keyring: Keyring
  passphrases: Passphrases
  shareOf: ShareOf
  linkMails: LinkMails
  now: Now
}) {
  const { store, keyring, passphrases, shareOf, linkMails, now } = options

  /**
   * Creates a push. Name and note of an anonymous push are returned but not stored, because no account could
   * list them.
   */
  function create(wanted: NewPush, options: CreateOptions): Promise<CreatedPush> {
    const { attempt } = options
    return attempt === null ? createAnew(wanted, options, NO_KEY) : createOnce(wanted, options, attempt)
  }

  async function createOnce(wanted: NewPush, options: Creation, attempt: KeyedAttempt): Promise<CreatedPush> {
    const { upload } = options
    const fingerprint = fingerprintOfPush(wanted, upload.listPrints())
    if (attempt.made !== null) return repeat(wanted, { made: attempt.made, fingerprint, upload })
    const keepKey: KeepKey = (made) => attempt.seal({ ...made, fingerprint })
    try {
      return await createAnew(wanted, options, keepKey)
    } catch (cause) {
      const made = isDomainError(cause, 'conflict') ? await attempt.find() : null
      if (made === null) throw cause
      return repeat(wanted, { made, fingerprint, upload })
    }
  }

  /**
   * Rebuilds the first answer for a repeated request. Takes values that are not stored (name, note, files of
   * an anonymous push) from this request, which must be equal to the first.
   */
  async function repeat(wanted: NewPush, again: Repeat): Promise<CreatedPush> {
    const { made, upload } = again
    requireSameFields(made, again.fingerprint)
    // If the full disk prevents cleanup now, the next start does it.
    await upload.discard().catch(() => undefined)
    const { name, note, lifetime, expireAfterDays, expireAfterViews } = wanted
    const expiresAt = made.push.createdAt + lifetime
    const push = { ...made.push, expiresAt, expireAfterDays, expireAfterViews }
    const { urlToken } = made
    const sealed = push.codeRequired ? (await store.pushes.findSealedPush(push.lookup))?.sealed : null
    const code = sealed ? codeOf(urlToken, sealed.secrets.salt) : null
    return { push, urlToken, name, note, request: null, files: upload.listFiles(), code }
  }

  async function createAnew(
    wanted: NewPush,
    { viewer, upload, answer, requireOpen }: Creation,
    keepKey: KeepKey,
  ): Promise<CreatedPush> {
    const { account, visit } = viewer
    const measured = store.freeSpace.require()
    if (measured !== null) await measured
    const instanceKey = keyring.sealing
    const urlToken = newUrlToken()
    const lookup = lookupOf(urlToken, instanceKey.lookup)
    const passphrase =
      wanted.passphrase === null ? null : await passphrases.derive(wanted.passphrase, visit.ip)
    const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey: passphrase?.key ?? null }
    const { dataKey } = upload
    const files = upload.listFiles()
    const encrypt = wanted.payload === '' ? null : (answer?.encrypt ?? null)
    const payload = encrypt === null ? wanted.payload : await encrypt(wanted.payload)
    const sealed = sealSecrets({ payload, dataKey }, opener)
    const secrets = { ...sealed, passphraseSalt: passphrase?.salt ?? null }
    const ownerId = answer?.ownerId ?? account?.id ?? null
    const { name, note, namesRecipient } = wanted
    const request = answer?.urlToken ?? null
    const texts = { urlToken, name, note, request }
    const labels =
      ownerId === null ? null : { ...sealLabels(texts, { keyring, pushId: lookup, ownerId }), namesRecipient }
    const push = begin(wanted, { ownerId, now: now(), isNew: answer !== undefined })
    const { mail } = wanted
    const keyNumber = instanceKey.number
    const sealedFiles = files.map((file) => sealFile(file, { pushId: lookup, dataKey, keyNumber }))
    const idempotency = keepKey({ urlToken, createdAt: push.createdAt })
    const size = { payload: sealed.payload.length, views: push.expireAfterViews }
    const share = shareOf(viewer, shareBytes(size))
    const ownerResets = account?.resets ?? 0
    const storeWith = (mails: readonly string[]) =>
      store.pushes.createPush({
        ...{ push, ownerResets, lookup, keyNumber, secrets, labels, idempotency, share, visit, mails },
        files: sealedFiles,
        answer: answer ?? null,
        requireOpen,
      })
    const sending = mail && account && { urlToken, account, address: visit.ip, push }
    const created = mail && sending ? linkMails(mail, sending, storeWith) : storeWith(NO_MAILS)
    const code = wanted.codeRequired ? codeOf(urlToken, sealed.salt) : null
    return { push: await created, urlToken, name, note, request, files, code }
  }

  return create
}

const NO_MAILS: readonly string[] = []
const NO_KEY = () => null

type CreateContext = { ownerId: number | null; now: number; isNew: boolean }

/** Names each member: copying them from objects costs a create a hundredth of its time. */
function begin(wanted: NewPush, { ownerId, now, isNew }: CreateContext): Push {
  return {
    ...UNTOUCHED,
    kind: wanted.kind,
    ownerId,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + wanted.lifetime,
    expireAfterDays: wanted.expireAfterDays,
    expireAfterViews: wanted.expireAfterViews,
    deletableByViewer: wanted.deletableByViewer,
    retrievalStep: wanted.retrievalStep,
    showsSender: wanted.showsSender,
    passphraseRequired: wanted.passphrase !== null,
    codeRequired: wanted.codeRequired,
    encryptedBy: wanted.encryptedBy,
    keyCheck: wanted.keyCheck,
    wrongTriesSince: now,
    isNew,
  }
}
