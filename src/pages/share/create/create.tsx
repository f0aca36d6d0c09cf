// Handles the create form: creates one push however often the form is sent, or shows the form again.

import { DomainError, isDomainError, isOutage, type OutageError } from '../../../domain/errors.ts'
import type { BodyLimits } from '../../../http/intake/body.ts'
import type { Wire } from '../../../http/intake/members.ts'
import { createReceivePush, type ReceivedPush, type RevisedPush } from '../../../http/intake/receiving.ts'
import { PAGES } from '../../../http/urls.ts'
import type { CreatedPush } from '../../../pushes/create-push.ts'
import type { FirstAnswer, Idempotency } from '../../../pushes/idempotency.ts'
import type { PageSeals } from '../../../pushes/page-seals.ts'
import type { Pushes } from '../../../pushes/pushes.ts'
import type { Upload, Uploads } from '../../../pushes/uploads.ts'
import { cookieOf } from '../../frame/cookies.ts'
import { askToSignIn, type Guest, leadTo } from '../../frame/guest.ts'
import { type CreatePageParts, createShowForm } from './create-page.tsx'
import { readCreateForm } from './create-reader.ts'
import { explainRefusal } from './create-refusals.ts'
import { keyOfForm, requireOpener, type Typed } from './create-sender.ts'
import { createFileTaker, type FileTaker } from './file-taker.ts'
import { readShared } from './shared.tsx'

export type CreatePageOptions = CreatePageParts & {
  pushes: Pick<Pushes, 'create' | 'getOwned'>
  uploads: Uploads
  idempotency: Idempotency
  senders: PageSeals['senders']
  body: BodyLimits
  /** Whether people without an account may create pushes. */
  anonymousAccess: boolean
}

/** A form that is being read: the fields so far, and the push that this form created earlier, if any. */
type FormSubmission = {
  guest: Guest
  fields: Record<string, string>
  typed: Typed
  made: FirstAnswer | null
  files: FileTaker
  /** Whether an outage prevents looking up the sender. */
  isUnknown: boolean
}

export function createCreatePage(options: CreatePageOptions) {
  const { pushes, idempotency, marks, senders, preferences, anonymousAccess } = options
  const receivePush = createReceivePush(options)
  const { show, showShared, showAgain } = createShowForm(options)

  const create = (guest: Guest) => receive(guest, null)

  /** Reads the form and shows it again as sent, because its sender cannot be looked up. */
  const refuseUnknown = (stranger: Guest, cause: OutageError) => receive(stranger, cause)

  async function receive(guest: Guest, outage: OutageError | null): Promise<Response> {
    const fields: Record<string, string> = {}
    const typed = (field: string) => fields[field] ?? ''
    const files = createFileTaker(outage)
    const sending: FormSubmission = { guest, fields, typed, made: null, files, isUnknown: outage !== null }
    try {
      const { urlToken } = await readAndCreate(sending)
      const cookie = cookieOf(guest, { name: 'sender', value: senders.seal(urlToken) })
      const mailed = typed('notify_emails_to').trim() === '' ? '' : '?mailed=true'
      const path = `${PAGES.created.href({ url_token: urlToken })}${mailed}`
      return leadTo(guest, path, { 'set-cookie': cookie })
    } catch (cause) {
      return isStranger(sending) ? askToSignIn(guest) : refuse(cause, sending)
    }
  }

  /** Reads the form and creates the push. Throws an outage only after the whole form was read. */
  function readAndCreate(sending: FormSubmission): Promise<CreatedPush> {
    const { guest, fields, files } = sending
    const { exchange, viewer } = guest
    return receivePush(
      {
        ...{ exchange, viewer, wrappers: ['push'], isFingerprinted: true },
        onPart: (name, value) => noteField(fields, { name: /^push\[(\w+)\]$/.exec(name)?.[1], value }),
        isRepeat: () => isRepeat(sending),
        onFile: (file, store) =>
          files.take(file, (taken) => {
            requireOpenerOfFiles(sending)
            return store(taken)
          }),
        revise: (wire) => {
          // A form without files may arrive in one piece. Then onPart is not called.
          for (const [name, value] of Object.entries(wire)) noteField(fields, { name, value })
          files.requireNone()
          return revise(wire, sending)
        },
      },
      (received) => createAndRemember(received, sending),
    )
  }

  /** Whether an account is required, and the form was neither opened nor sent by one. */
  function isStranger({ guest, typed, isUnknown }: FormSubmission): boolean {
    if (isUnknown) return false
    const wasOfAccount = (marks.read(typed('opened_by'))?.accountId ?? null) !== null || typed('form') !== ''
    return !anonymousAccess && guest.session === null && !wasOfAccount
  }

  /** Checks the sender, and converts the form's fields to those of the API. */
  function revise(wire: Wire, { guest, typed }: FormSubmission): RevisedPush {
    requireOpener(guest, typed, marks)
    if (!anonymousAccess) requireAccount(guest)
    const { files: _, ...rest } = wire
    return readCreateForm(rest)
  }

  /**
   * Checks the sender before files are stored. Browsers send the hidden fields before the files; for a client
   * that does not, the check is at the end of the form.
   */
  function requireOpenerOfFiles({ guest, typed }: FormSubmission): void {
    if (typed('opened_by') !== '' || typed('form') !== '') requireOpener(guest, typed, marks)
  }

  async function isRepeat(sending: FormSubmission): Promise<boolean> {
    const presented = keyOfForm(sending.guest, sending.typed, marks)
    sending.made = presented === null ? null : await idempotency.find(presented)
    return sending.made !== null
  }

  async function createAndRemember(
    received: ReceivedPush<Upload>,
    sending: FormSubmission,
  ): Promise<CreatedPush> {
    const created = await createOnce(received, sending)
    const { account } = sending.guest.viewer
    const isAsked = sending.typed('remember') === 'true'
    if (account !== null && isAsked) await preferences.rememberChoices(account, received.push)
    return created
  }

  /** Creates the push once: a second press of the button waits for the first and gets the same answer. */
  async function createOnce(
    { push, upload }: ReceivedPush<Upload>,
    { guest, typed, made }: FormSubmission,
  ): Promise<CreatedPush> {
    const { viewer } = guest
    const presented = keyOfForm(guest, typed, marks)
    if (presented === null) return pushes.create(push, { viewer, upload, attempt: null })
    const attempt = await idempotency.begin(presented, { waits: true })
    try {
      // The key expired while its files were compared. They were not stored, so no push can be created from
      // them.
      if (made !== null && attempt.made === null) throw idempotency.hasEnded()
      return await pushes.create(push, { viewer, upload, attempt })
    } finally {
      attempt.end()
    }
  }

  /** Shows the form again with everything that was typed, and each problem beside its field. */
  async function refuse(cause: unknown, sending: FormSubmission): Promise<Response> {
    const why = isDomainError(cause) ? explainRefusal(cause, sending.guest) : null
    if (why === null) throw cause
    const { guest, typed, files, isUnknown } = sending
    // Skip the lookup in an outage, where it would fail too. The form keeps its key, so sending it again
    // finds the push.
    const made = why.isOfSomebodyElse === true || isOutage(cause) ? null : await findMade(sending)
    const again = made === null ? {} : { message: guest.say('problem_key_reused'), isKeyUsed: true }
    const madeUrlToken = made?.urlToken ?? null
    return showAgain(guest, {
      ...why,
      ...again,
      typed,
      forgetsFiles: files.hasFiles(),
      madeUrlToken,
      isUnknown,
    })
  }

  /**
   * Finds the push that this form has already created. The person may not know it, if the response was lost.
   */
  async function findMade({ guest, typed }: FormSubmission): Promise<FirstAnswer | null> {
    const presented = keyOfForm(guest, typed, marks)
    try {
      return presented === null ? null : await idempotency.find(presented)
    } catch (cause) {
      if (isDomainError(cause)) return null
      throw cause
    }
  }

  const share = async (guest: Guest, outage: OutageError | null = null) =>
    showShared(guest, await readShared(guest, options.body), outage)

  return { show, create, refuseUnknown, share }
}

function requireAccount({ viewer }: Guest): void {
  if (viewer.account === null)
    throw new DomainError('unauthenticated', 'An account is needed.', { sender: 'signed_out' })
}

function noteField(
  fields: Record<string, string>,
  { name, value }: { name?: string | undefined; value: unknown },
) {
  if (name !== undefined && typeof value === 'string') fields[name] = value
}
