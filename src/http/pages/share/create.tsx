// What becomes of the form that creates a push: one push, however often it is sent, or the form again.

import { DomainError, invalidFields, isDomainError } from '../../../domain/errors.ts'
import type { NewPush } from '../../../domain/new-push.ts'
import { HOUR, MINUTE } from '../../../domain/time.ts'
import type { Created } from '../../../services/pushes/create-push.ts'
import type { Idempotency, Made } from '../../../services/pushes/idempotency.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import type { Upload, Uploads } from '../../../services/pushes/uploads.ts'
import { answerSeeOther } from '../../door/answers.ts'
import type { BodyLimits } from '../../intake/body.ts'
import { createFields, type Wire } from '../../intake/fields.ts'
import type { FilePart } from '../../intake/multipart.ts'
import { readPushFields } from '../../intake/push-body.ts'
import { parseNewPush, requireFilesAllowed } from '../../intake/push-input.ts'
import { askToSignIn, type Guest } from '../frame/guest.ts'
import { type CreatePageParts, createShowForm } from './create-page.tsx'
import { explainRefusal } from './create-refusals.ts'
import { keyOfForm, requireOpener, type Typed } from './create-sender.ts'

export type CreatePageOptions = CreatePageParts & {
  pushes: Pick<Pushes, 'create'>
  uploads: Uploads
  idempotency: Idempotency
  body: BodyLimits
  /** Without it only accounts may create. */
  anonymousAccess: boolean
}

/** A form on its way: `fields` as far as they were read, and what it has made before, once that was looked for. */
type Sending = {
  guest: Guest
  upload: Upload
  fields: Record<string, string>
  typed: Typed
  made: Made | null
  hasFiles: boolean
}

export function createCreatePage(options: CreatePageOptions) {
  const { pushes, uploads, idempotency, marks, limits, body, anonymousAccess } = options
  const show = createShowForm(options)

  async function create(guest: Guest): Promise<Response> {
    const upload = uploads.begin({ isFingerprinted: true })
    const fields: Record<string, string> = {}
    const typed = (field: string) => fields[field] ?? ''
    const sending: Sending = { guest, upload, fields, typed, made: null, hasFiles: false }
    try {
      const push = await readPush(sending)
      const { urlToken } = await createOnce(push, sending)
      return answerSeeOther(guest.href(`/p/${urlToken}/preview`))
    } catch (cause) {
      await upload.discard().catch(() => undefined)
      return isStranger(sending) ? askToSignIn(guest) : refuse(cause, sending)
    }
  }

  /** Somebody without an account where one is needed, whose form never was an account's. */
  function isStranger({ guest, typed }: Sending): boolean {
    const wasOfAccount = (marks.read(typed('opened_by'))?.accountId ?? null) !== null || typed('form') !== ''
    return !anonymousAccess && guest.session === null && !wasOfAccount
  }

  async function readPush(sending: Sending): Promise<NewPush> {
    const { guest, upload, typed } = sending
    const wire = await readWire(sending)
    requireOpener(guest, typed, marks)
    if (!anonymousAccess) requireAccount(guest)
    const lifetime = readLifetime(wire)
    const received = upload.listFiles().length
    const given = { viewer: guest.viewer, limits, received, ...lifetime.options }
    return parseNewPush({ ...wire, ...lifetime.wire }, given).push
  }

  async function readWire(sending: Sending): Promise<Wire> {
    const { guest, fields } = sending
    const onFile = async (file: FilePart) => {
      sending.hasFiles = true
      prepareForFiles(sending)
      await sending.upload.add(file)
    }
    const onPart = (name: string, value: unknown) => {
      const field = /^push\[(\w+)\]$/.exec(name)?.[1]
      if (field !== undefined && typeof value === 'string') fields[field] = value
    }
    const wire = await readPushFields(guest.exchange, { ...body, wrappers: ['push'], onFile, onPart })
    const { files: _, ...rest } = wire
    // A form without files may come in one piece, of whose parts nobody was told.
    for (const [name, value] of Object.entries(wire)) if (typeof value === 'string') fields[name] = value
    // Forms end lines with CR LF, whatever was typed.
    return Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [
        name,
        typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value,
      ]),
    )
  }

  /** Before any of a file is read: whether it may be sent, and whether it was sent before, when it is not stored again. */
  function prepareForFiles(sending: Sending): void {
    const { guest, upload, typed } = sending
    // Browsers send what the form carries unseen before its files; for others the end of the form is soon enough.
    if (typed('opened_by') !== '' || typed('form') !== '') requireOpener(guest, typed, marks)
    requireFilesAllowed(guest.viewer, limits)
    const presented = keyOfForm(guest, typed, marks)
    sending.made = presented === null ? null : idempotency.find(presented)
    if (sending.made !== null) upload.compareOnly()
  }

  /** A second press of the button waits for the first one, and gets the same answer. */
  async function createOnce(push: NewPush, sending: Sending): Promise<Created> {
    const { guest, upload, typed, made } = sending
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

  /** With everything that was typed, and what was wrong beside each field. */
  function refuse(cause: unknown, sending: Sending): Response {
    const why = isDomainError(cause) ? explainRefusal(cause, sending.guest) : null
    if (why === null) throw cause
    const { guest, typed, hasFiles: forgetsFiles } = sending
    const made = why.isOfSomebodyElse === true ? null : findMade(sending)
    const again = made === null ? {} : { message: guest.words.say('problem_key_reused'), isKeyUsed: true }
    return show(guest, { ...why, ...again, typed, forgetsFiles, madeUrlToken: made?.urlToken ?? null })
  }

  /** What the form has made, of which the person should know: perhaps the answer was lost. */
  function findMade({ guest, typed }: Sending): Made | null {
    const presented = keyOfForm(guest, typed, marks)
    try {
      return presented === null ? null : idempotency.find(presented)
    } catch (cause) {
      if (isDomainError(cause)) return null
      throw cause
    }
  }

  return { show: (guest: Guest) => show(guest), create }
}

function requireAccount({ viewer }: Guest): void {
  if (viewer.account === null)
    throw new DomainError('unauthenticated', 'An account is needed.', { sender: 'signed_out' })
}

const UNIT: Record<string, number> = { minutes: MINUTE, hours: HOUR }

/** A number and its unit: days as the API has them, anything shorter as a length of time. */
function readLifetime(wire: Wire): { wire: Wire; options: { duration?: number } } {
  const { expire_after: given, expire_unit: unit } = wire
  const milliseconds = typeof unit === 'string' ? UNIT[unit] : undefined
  if (milliseconds === undefined) return { wire: { expire_after_days: given }, options: {} }
  const fields = createFields({ expire_after: given })
  const number = fields.integer('expire_after', { min: 1, max: 1_000_000 })
  if (Object.keys(fields.problems).length > 0) throw invalidFields(fields.problems)
  return { wire: {}, options: number === null ? {} : { duration: number * milliseconds } }
}
