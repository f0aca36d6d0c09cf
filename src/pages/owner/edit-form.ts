// Reads the form that edits a push. Its end is chosen as a time from now, which is how people think of it.

import type { WantedEdit } from '../../domain/editing.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { createFields } from '../../http/intake/members.ts'
import { createEditTable } from '../../http/intake/push-edit.ts'
import type { Form } from '../frame/form.ts'

/** Milliseconds from now in which a push may be made to expire. */
export const ENDS_IN: readonly number[] = [
  ...[15 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR],
  ...[1, 2, 3, 7, 14, 30, 60].map((days) => days * DAY),
]

export function createReadEditForm(limits: PushLimits) {
  const { name, note, expire_after_views } = createEditTable(limits)
  const table = { name, note, expire_after_views }

  return (form: Form, now: number): WantedEdit => {
    // Forms end lines with CR LF, whatever was typed.
    const plain = { name: form.text('name'), note: form.text('note').replaceAll('\r\n', '\n') }
    const fields = createFields(table, { ...plain, expire_after_views: form.text('views') })
    const endsIn = ENDS_IN.find((milliseconds) => String(milliseconds) === form.text('ends_in'))
    const edit = {
      name: plain.name === '' ? '' : fields.read('name'),
      note: plain.note === '' ? '' : fields.read('note'),
      expireAfterViews: fields.read('expire_after_views'),
      expiresAt: endsIn === undefined ? null : now + endsIn,
      ...{ expireAfterDays: null, duration: null },
    }
    return { edit, problems: fields.problems }
  }
}
