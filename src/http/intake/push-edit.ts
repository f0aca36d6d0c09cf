// Reads what the owner of a push wants to change about it.

import { type TSchema, Type } from '@sinclair/typebox'
import { invalidFields } from '../../domain/errors.ts'
import { MAX_DAYS, MAX_VIEWS, type PushLimits } from '../../domain/new-push.ts'
import type { WantedEdit } from '../../services/pushes/edit-push.ts'
import type { Exchange } from '../door/exchange.ts'
import type { BodyLimits } from './body.ts'
import { createFields } from './fields.ts'
import { asInteger, type Coercion, member } from './members.ts'
import { readPushFields } from './push-body.ts'
import { createPushTable } from './push-table.ts'

const asUnchangeable: Coercion<TSchema> = (_value, _schema, blame) => blame({ code: 'cannot_change' })
const unchangeable = member(Type.Unknown(), asUnchangeable)

const SOONER = ' A value that would let it live longer, or that has been reached already, is refused.'

/** The members that can be edited; the reference shows them. */
export function createEditTable(limits: PushLimits) {
  const { name, note, expire_after_duration } = createPushTable(limits)
  const days = `Days from its creation until it expires.${SOONER}`
  const views = `Retrievals until it expires, those before included.${SOONER}`
  return {
    name,
    note,
    expire_after_days: member(Type.Integer({ minimum: 1, maximum: MAX_DAYS, description: days }), asInteger),
    expire_after_views: member(
      Type.Integer({ minimum: 1, maximum: MAX_VIEWS, description: views }),
      asInteger,
    ),
    expire_after_duration,
  }
}

export function createReadEdit({ limits, body }: { limits: PushLimits; body: BodyLimits }) {
  const { kind, deletable_by_viewer, retrieval_step } = createPushTable(limits)
  const table = {
    ...createEditTable(limits),
    ...{ kind, deletable_by_viewer, retrieval_step },
    ...{ payload: unchangeable, files: unchangeable, passphrase: unchangeable },
  }

  /** Throws `invalid` for a file, and what `readPushFields` throws. */
  return async (exchange: Exchange): Promise<WantedEdit> => {
    const wire = await readPushFields(exchange, { ...body, wrappers: ['push'], onFile: refuseFile })
    const fields = createFields(table, wire)
    for (const name of ['payload', 'files', 'passphrase'] as const) fields.read(name)
    const edit = {
      name: wire.name === '' ? '' : fields.read('name'),
      note: wire.note === '' ? '' : fields.read('note'),
      expireAfterDays: fields.read('expire_after_days'),
      expireAfterViews: fields.read('expire_after_views'),
      duration: fields.read('expire_after_duration'),
      expiresAt: null,
      kind: fields.read('kind'),
      deletableByViewer: fields.read('deletable_by_viewer'),
      retrievalStep: fields.read('retrieval_step'),
    }
    return { edit, problems: fields.problems }
  }
}

function refuseFile(): never {
  throw invalidFields({ files: [{ code: 'cannot_change' }] })
}
