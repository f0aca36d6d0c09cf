// Editing a push: its owner changes name and note, and lets it end sooner.

import type { Keyring } from '../crypto/keyring.ts'
import type { Viewer } from '../domain/audit.ts'
import { decideEdit, type EditDecision, type LabelsToEdit, type WantedEdit } from '../domain/editing.ts'
import { type DomainError, invalidFields, notFound } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { EditToPush, Store } from '../store/face.ts'
import { type Labels, openLabels, type Place, placeOfPush, sealLabel } from './labels.ts'
import type { Labelled } from './owner-lists.ts'
import type { PushFinder } from './push-finder.ts'

type Options = {
  store: Pick<Store, 'pushes' | 'lists'>
  keyring: Keyring
  finder: PushFinder
  now: Now
}

type ReadEdit = () => WantedEdit | Promise<WantedEdit>

export function createEditPush({ store, keyring, finder, now }: Options) {
  /**
   * Throws `not_found`, `forbidden` for everybody but the owner, and then what `read` throws, and `invalid` with every field whose new
   * value is refused.
   */
  async function edit(urlToken: string, viewer: Viewer, read: ReadEdit): Promise<Labelled> {
    const { visit } = viewer
    const { push, account: owner } = await finder.getOwn(urlToken, viewer, 'edit it')
    const place = placeOfPush(push, keyring)
    const wanted = await read()
    if (Object.keys(wanted.problems).length > 0) throw refuse(wanted, decideEdit(push, wanted.edit, now()))
    const sealed = await store.lists.findLabels(push.id)
    if (sealed === null) throw notFound()
    const present = openLabels(sealed, place)
    const labels = sealChanged(wanted.edit, present, place)
    const edited = await store.pushes.editPush({
      id: push.id,
      ownerId: owner.id,
      edit: wanted.edit,
      labels,
      visit,
    })
    if (edited === null) throw notFound()
    if (edited.outcome === 'refused') throw refuse(wanted, edited)
    const { name, note } = wanted.edit
    return {
      push: edited.push,
      urlToken,
      name: name ?? present.name,
      note: note ?? present.note,
      request: present.request,
    }
  }

  return { edit }
}

function sealChanged(wanted: LabelsToEdit, present: Labels, place: Place): EditToPush['labels'] {
  const changed = (['name', 'note'] as const).filter(
    (field) => (wanted[field] ?? present[field]) !== present[field],
  )
  return Object.fromEntries(changed.map((field) => [field, sealLabel(field, wanted[field] ?? '', place)]))
}

/** Names every field at fault. */
function refuse({ problems }: WantedEdit, decision: EditDecision): DomainError {
  const ofPush = decision.outcome === 'refused' ? decision.problems : {}
  return invalidFields({ ...ofPush, ...problems })
}
