// Reads what the owner of a push wants to change, and the recipients of mails with its link.

import type { Viewer } from '../../domain/audit.ts'
import type { WantedEdit } from '../../domain/editing.ts'
import { invalidFields } from '../../domain/errors.ts'
import { type LinkMail, MAX_DAYS, MAX_VIEWS, type PushLimits } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Exchange } from '../door/exchange.ts'
import type { BodyLimits } from './body.ts'
import { createFields, integer, isGiven } from './members.ts'
import { readPushFields } from './push-body.ts'
import { createMailTable, createPushTable, mayMailLink, readMail } from './push-input.ts'

const SOONER = ' A value that would let it live longer, or that has been reached already, is refused.'

/** The members that can be edited; the reference shows them. */
export function createEditTable(limits: PushLimits) {
  const { name, note, expire_after_duration } = createPushTable(limits)
  const days = `Days from its creation until it expires.${SOONER}`
  const views = `Retrievals until it expires, those before included.${SOONER}`
  return {
    name,
    note,
    expire_after_days: integer({ minimum: 1, maximum: MAX_DAYS, description: days }),
    expire_after_views: integer({ minimum: 1, maximum: MAX_VIEWS, description: views }),
    expire_after_duration,
  }
}

type ReadEditOptions = {
  limits: PushLimits
  body: BodyLimits
  /** All members of a push that any answer has. */
  members: readonly string[]
}

export function createReadEdit({ limits, body, members }: ReadEditOptions) {
  const table = createEditTable(limits)
  const known = new Set([...members, ...Object.keys(createPushTable(limits))])
  const fixed = [...known].filter((name) => !Object.hasOwn(table, name))

  /**
   * Reads an edit. Refuses each member that cannot be changed, whatever its value. Throws `invalid` for a
   * file, and whatever `readPushFields` throws.
   */
  return async (exchange: Exchange): Promise<WantedEdit> => {
    const wire = await readPushFields(exchange, { ...body, wrappers: ['push'] })
    const fields = createFields(table, wire)
    const edit = {
      name: wire.name === '' ? '' : fields.read('name'),
      note: wire.note === '' ? '' : fields.read('note'),
      expireAfterDays: fields.read('expire_after_days'),
      expireAfterViews: fields.read('expire_after_views'),
      duration: fields.read('expire_after_duration'),
      expiresAt: null,
    }
    const refused = fixed.filter((name) => isGiven(wire[name]))
    return { edit, problems: { ...fields.problems, ...problemsOf(refused) } }
  }
}

/** The members of a mail with the link; the reference shows them. */
export function createLinkMailTable(limits: PushLimits) {
  const { recipients_only } = createPushTable(limits)
  return { ...createMailTable(limits), recipients_only }
}

type EndToEnd = Parameters<typeof mayMailLink>[0]

/**
 * Reads the recipients of mails with the link of a push. Throws `invalid` with every field at fault, and what
 * `readPushFields` throws.
 */
export function createReadLinkMail({ limits, body }: Pick<ReadEditOptions, 'limits' | 'body'>) {
  const table = createLinkMailTable(limits)
  return async (exchange: Exchange, viewer: Viewer, push: EndToEnd): Promise<LinkMail> => {
    const wire = await readPushFields(exchange, { ...body, wrappers: ['push'] })
    const fields = createFields(table, wire)
    const mail = readMail(fields, { wire, viewer, limits })
    if (mail === null && fields.problems.notify_emails_to === undefined)
      fields.blame('notify_emails_to', { code: 'blank' })
    if (mail !== null && !mayMailLink(push, fields.read('recipients_only')))
      fields.blame('notify_emails_to', { code: 'link_needs_key' })
    if (mail === null || Object.keys(fields.problems).length > 0) throw invalidFields(fields.problems)
    return mail
  }
}

function problemsOf(refused: readonly string[]): Problems {
  return Object.fromEntries(refused.map((name) => [name, [{ code: 'cannot_change' }]]))
}
