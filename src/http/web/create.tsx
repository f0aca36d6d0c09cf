// The page that creates a push, and what becomes of its form.

import { isDomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import { invalidFields } from '../../domain/problems.ts'
import { HOUR, MINUTE } from '../../domain/time.ts'
import type { Pushes } from '../../services/pushes.ts'
import type { Upload, Uploads } from '../../services/uploads.ts'
import { type AnswerHeaders, answerSeeOther } from '../answers.ts'
import type { BodyLimits } from '../api/body.ts'
import { createFields, type Wire } from '../api/fields.ts'
import type { FilePart } from '../api/multipart.ts'
import { readPushFields } from '../api/push-body.ts'
import { parseNewPush, requireFilesAllowed } from '../api/push-input.ts'
import type { Typed } from './create-fields.tsx'
import { CreateForm } from './create-form.tsx'
import { type Guest, requireFormToken } from './guest.ts'
import { LocalhostNotice } from './localhost-notice.tsx'
import type { AnswerGuest } from './page.tsx'
import { Notice } from './parts.tsx'
import { explainRoom } from './room.ts'
import { requireSameOrigin } from './same-origin.ts'

export type CreatePageOptions = {
  pushes: Pick<Pushes, 'create'>
  uploads: Uploads
  limits: PushLimits
  body: BodyLimits
  answer: AnswerGuest
  /** Where the generator finds its words. */
  wordlist: string
}

type Answered = {
  typed?: Typed
  problems?: Problems
  message?: string
  status?: number
  headers?: AnswerHeaders
}

export function createCreatePage(options: CreatePageOptions) {
  const { pushes, uploads, limits, body, answer, wordlist } = options
  function show(guest: Guest, answered: Answered = {}): Response {
    const { typed = () => '', problems = {}, message, status = 200, headers = {} } = answered
    const { say } = guest.words
    const content = (
      <>
        <h1>{say('create_title')}</h1>
        <p class="lead">{say('create_lead')}</p>
        <LocalhostNotice guest={guest} path="/" />
        {status === 200 ? null : (
          <Notice kind="bad">
            <p>{message ?? say('create_problems')}</p>
            {typed('kind') === 'file' ? <p>{say('files_again')}</p> : null}
          </Notice>
        )}
        <CreateForm guest={guest} limits={limits} typed={typed} problems={problems} wordlist={wordlist} />
      </>
    )
    return answer(content, {
      guest,
      title: say('create_title'),
      status,
      headers,
      scripts: ['common', 'create', 'generator'],
    })
  }

  async function create(guest: Guest): Promise<Response> {
    requireSameOrigin(guest.exchange)
    const upload = uploads.begin()
    const typed: Record<string, string> = {}
    try {
      const wire = await readWire(guest, { upload, typed })
      requireFormToken(guest, wire.form)
      const lifetime = readLifetime(wire)
      const received = upload.listFiles().length
      const given = { viewer: guest.viewer, limits, received, ...lifetime.options }
      const { push } = parseNewPush({ ...wire, ...lifetime.wire }, given)
      const { urlToken } = await pushes.create(push, { viewer: guest.viewer, upload, attempt: null })
      return answerSeeOther(guest.href(`/p/${urlToken}/preview`))
    } catch (cause) {
      await upload.discard().catch(() => undefined)
      return refuse(guest, { cause, typed: (field) => typed[field] ?? '' })
    }
  }

  type Reading = { upload: Upload; typed: Record<string, string> }

  async function readWire(guest: Guest, { upload, typed }: Reading): Promise<Wire> {
    const onFile = async (file: FilePart) => {
      requireFilesAllowed(guest.viewer, limits)
      await upload.add(file)
    }
    const onPart = (name: string, value: unknown) => {
      const field = /^push\[(\w+)\]$/.exec(name)?.[1]
      if (field !== undefined && typeof value === 'string') typed[field] = value
    }
    const { request } = guest.exchange
    const wire = await readPushFields(request, { ...body, wrappers: ['push'], onFile, onPart })
    const { files: _, payload, ...rest } = wire
    // Forms end lines with CR LF, whatever was typed.
    return { ...rest, ...(typeof payload === 'string' ? { payload: payload.replaceAll('\r\n', '\n') } : {}) }
  }

  /** With everything that was typed, and what was wrong beside each field. */
  function refuse(guest: Guest, { cause, typed }: { cause: unknown; typed: Typed }): Response {
    if (isDomainError(cause, 'invalid'))
      return show(guest, { typed, problems: cause.details.problems ?? {}, status: 422 })
    if (isDomainError(cause, 'unauthenticated'))
      return show(guest, { typed, message: guest.words.say('files_need_account'), status: 401 })
    if (isDomainError(cause, 'disk_full'))
      return show(guest, { typed, message: guest.words.say('error_disk_full'), status: 507 })
    if (isDomainError(cause, 'too_large')) {
      const message = guest.words.say('error_too_large', { size: guest.words.bytes(limits.fileBytes) })
      return show(guest, { typed, message, status: 413, headers: { connection: 'close' } })
    }
    if (isDomainError(cause, 'too_many') && cause.details.room !== undefined) {
      const { room, retryAfter = 60 } = cause.details
      const message = explainRoom(room, guest.words)
      return show(guest, { typed, message, status: 429, headers: { 'retry-after': String(retryAfter) } })
    }
    throw cause
  }

  return { show, create }
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
