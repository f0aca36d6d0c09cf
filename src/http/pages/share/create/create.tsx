// Handles the create form: creates one push however often the form is sent, or shows the form again.

import { DomainError, isDomainError } from '../../../../domain/errors.ts'
import type { Created } from '../../../../services/pushes/create-push.ts'
import type { Idempotency, Made } from '../../../../services/pushes/idempotency.ts'
import type { Pushes } from '../../../../services/pushes/pushes.ts'
import type { Uploads } from '../../../../services/pushes/uploads.ts'
import { answerSeeOther } from '../../../door/answers.ts'
import type { BodyLimits } from '../../../intake/body.ts'
import type { Wire } from '../../../intake/fields.ts'
import { createReceivePush, type Received, type Revised } from '../../../intake/receive-push.ts'
import { PAGES } from '../../../urls.ts'
import { askToSignIn, type Guest } from '../../frame/guest.ts'
import { type CreatePageParts, createShowForm } from './create-page.tsx'
import { readCreateForm } from './create-reader.ts'
import { explainRefusal } from './create-refusals.ts'
import { keyOfForm, requireOpener, type Typed } from './create-sender.ts'
import { readShared } from './shared.tsx'

export type CreatePageOptions = CreatePageParts & {
  pushes: Pick<Pushes, 'create' | 'getOwned'>
  uploads: Uploads
  idempotency: Idempotency
  body: BodyLimits
  /** Without it only accounts may create. */
  anonymousAccess: boolean
}

/** A form that is being read: the fields so far, and the push that the form has created before, if there is one. */
type Sending = {
  guest: Guest
  fields: Record<string, string>
  typed: Typed
  made: Made | null
  hasFiles: boolean
  /** Why nobody knows who sends it; null when somebody does. */
  outage: DomainError | null
}

export function createCreatePage(options: CreatePageOptions) {
  const { pushes, idempotency, marks, choices, anonymousAccess } = options
  const receivePush = createReceivePush(options)
  const { show, showShared, showAgain } = createShowForm(options)

  const create = (guest: Guest) => receive(guest, null)

  /** Reads the form and shows it again, as it was sent, because nobody knows whose it is. */
  const refuseUnknown = (stranger: Guest, cause: DomainError) => receive(stranger, cause)

  async function receive(guest: Guest, outage: DomainError | null): Promise<Response> {
    const fields: Record<string, string> = {}
    const typed = (field: string) => fields[field] ?? ''
    const sending: Sending = { guest, fields, typed, made: null, hasFiles: false, outage }
    const { exchange, viewer } = guest
    try {
      const { urlToken } = await receivePush(
        {
          ...{ exchange, viewer, wrappers: ['push'], isFingerprinted: true },
          onPart: (name, value) => noteField(fields, { name: /^push\[(\w+)\]$/.exec(name)?.[1], value }),
          isRepeat: () => isRepeat(sending),
          onFile: () => prepareForFile(sending),
          revise: (wire) => revise(wire, sending),
        },
        (received) => createAndRemember(received, sending),
      )
      return answerSeeOther(guest.href(PAGES.created.href({ url_token: urlToken })))
    } catch (cause) {
      return outage === null && isStranger(sending) ? askToSignIn(guest) : refuse(outage ?? cause, sending)
    }
  }

  /** Whether an account is needed, and the form was neither opened nor sent by one. */
  function isStranger({ guest, typed }: Sending): boolean {
    const wasOfAccount = (marks.read(typed('opened_by'))?.accountId ?? null) !== null || typed('form') !== ''
    return !anonymousAccess && guest.session === null && !wasOfAccount
  }

  /** Checks who sends the form, and turns its members into those of the API. */
  function revise(wire: Wire, { guest, fields, typed, outage }: Sending): Revised {
    // A form without files may come in one piece; then onPart is not called.
    for (const [name, value] of Object.entries(wire)) noteField(fields, { name, value })
    if (outage !== null) throw outage
    requireOpener(guest, typed, marks)
    if (!anonymousAccess) requireAccount(guest)
    const { files: _, ...rest } = wire
    return readCreateForm(rest)
  }

  function prepareForFile(sending: Sending): void {
    const { guest, typed } = sending
    sending.hasFiles = true
    if (sending.outage !== null) throw sending.outage
    // Browsers send the hidden fields before the files. A client that does not is checked at the end of the form.
    if (typed('opened_by') !== '' || typed('form') !== '') requireOpener(guest, typed, marks)
  }

  async function isRepeat(sending: Sending): Promise<boolean> {
    if (sending.outage !== null) return false
    const presented = keyOfForm(sending.guest, sending.typed, marks)
    sending.made = presented === null ? null : await idempotency.find(presented)
    return sending.made !== null
  }

  async function createAndRemember(received: Received, sending: Sending): Promise<Created> {
    const created = await createOnce(received, sending)
    const { account } = sending.guest.viewer
    if (account !== null) await choices.remember(account, received.push)
    return created
  }

  /** A second press of the button waits for the first one, and gets the same answer. */
  async function createOnce({ push, upload }: Received, { guest, typed, made }: Sending): Promise<Created> {
    const { viewer } = guest
    const presented = keyOfForm(guest, typed, marks)
    if (presented === null) return pushes.create(push, { viewer, upload, attempt: null })
    const attempt = await idempotency.beginInTurn(presented)
    try {
      // The key lapsed while its files were compared, so nothing is there to create a push of.
      if (made !== null && attempt.made === null) throw idempotency.hasEnded()
      return await pushes.create(push, { viewer, upload, attempt })
    } finally {
      attempt.end()
    }
  }

  /** Shows the form again with everything that was typed, and each problem beside its field. */
  async function refuse(cause: unknown, sending: Sending): Promise<Response> {
    const why = isDomainError(cause) ? explainRefusal(cause, sending.guest) : null
    if (why === null) throw cause
    const { guest, typed, hasFiles: forgetsFiles, outage } = sending
    const isUnknown = outage !== null
    const made = why.isOfSomebodyElse === true || isUnknown ? null : await findMade(sending)
    const again = made === null ? {} : { message: guest.words.say('problem_key_reused'), isKeyUsed: true }
    const madeUrlToken = made?.urlToken ?? null
    return showAgain(guest, { ...why, ...again, typed, forgetsFiles, madeUrlToken, isUnknown })
  }

  /** The push that this form has created already: the person may not know, if the answer was lost. */
  async function findMade({ guest, typed }: Sending): Promise<Made | null> {
    const presented = keyOfForm(guest, typed, marks)
    try {
      return presented === null ? null : await idempotency.find(presented)
    } catch (cause) {
      if (isDomainError(cause)) return null
      throw cause
    }
  }

  const share = async (guest: Guest) => showShared(guest, await readShared(guest, options.body))

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
