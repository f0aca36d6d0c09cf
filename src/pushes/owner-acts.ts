// Acts of the owner on a push: edits its labels and limits, sends its link by mail; and on several pushes at
// once.

import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer, Visit } from '../domain/audit.ts'
import { decideEdit, type EditDecision, type LabelsToEdit, type WantedEdit } from '../domain/editing.ts'
import { type DomainError, invalidFields, notFound, nullIfMissing } from '../domain/errors.ts'
import type { LinkMail } from '../domain/new-push.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { EditToPush, StoredPush } from '../store/pushes-contract.ts'
import { type LabelContext, type Labels, openLabels, placeOfPush, sealLabel } from './labels.ts'
import type { LinkMails } from './link-mails.ts'
import type { LabelledPush, LinkedPush } from './owner-lists.ts'
import type { PushFinder } from './push-finder.ts'

/** Maximum number of selected pushes. A page of a list has fewer. */
const MAX_SELECTED = 200

type Options = {
  store: Pick<Store, 'pushes' | 'lists'>
  keyring: Keyring
  finder: PushFinder
  linkMails: LinkMails
  now: Now
}

type ReadEdit = () => WantedEdit | Promise<WantedEdit>
type ReadMail = (push: StoredPush) => Promise<LinkMail>

export function createOwnerActs({ store, keyring, finder, linkMails, now }: Options) {
  /**
   * Edits a push. Throws `not_found`; `forbidden` for anyone but the owner; whatever `read` throws; and
   * `invalid` with every field whose new value is refused.
   */
  async function edit(urlToken: string, viewer: Viewer, read: ReadEdit): Promise<LabelledPush> {
    const { visit } = viewer
    const { push, account: owner } = await finder.getOwn(urlToken, viewer, 'edit it')
    const place = placeOfPush(push, keyring)
    const wanted = await read()
    if (Object.keys(wanted.problems).length > 0) throw refuse(wanted, decideEdit(push, wanted.edit, now()))
    const sealed = await store.lists.findLabels(push.id)
    if (sealed === null) throw notFound()
    const present = openLabels(sealed, place)
    const labels = sealChanged(wanted.edit, present, place)
    const { id } = push
    const edited = await store.pushes.editPush({ id, ownerId: owner.id, edit: wanted.edit, labels, visit })
    if (edited === null) throw notFound()
    if (edited.outcome === 'refused') throw refuse(wanted, edited)
    const { name, note } = wanted.edit
    const labelled = { name: name ?? present.name, note: note ?? present.note, request: present.request }
    return { push: edited.push, urlToken, ...labelled }
  }

  /**
   * Throws `not_found`, `forbidden` for anyone but the owner, then what `read` throws, `too_many_mails`, and
   * `invalid` for an expired push.
   */
  async function notify(urlToken: string, viewer: Viewer, read: ReadMail): Promise<LinkedPush> {
    const { push, account } = await finder.getOwn(urlToken, viewer, 'send its link')
    const { visit } = viewer
    const sending = { urlToken, account, address: visit.ip, push }
    return linkMails(await read(push), sending, async (mails) => {
      const mailed = await store.pushes.mailLink({ id: push.id, ownerId: account.id, mails, visit })
      if (mailed === null) throw notFound()
      if (mailed.outcome === 'ended') throw invalidFields({ notify_emails_to: [{ code: 'link_ended' }] })
      return { push: mailed.push, urlToken }
    })
  }

  /**
   * Expires several pushes in one step. Skips those of other accounts. Resolves to the number of pushes that
   * it ended.
   */
  async function expireSelected(
    urlTokens: readonly string[],
    { account, visit }: { account: Account; visit: Visit },
  ): Promise<number> {
    const ids = await findOwn(urlTokens, account)
    return ids.length === 0 ? 0 : store.pushes.expirePushes({ ids, ownerId: account.id, visit })
  }

  /** Marks pushes as seen by their owner. Resolves to the number of pushes that are theirs. */
  async function markSeen(urlTokens: readonly string[], account: Account): Promise<number> {
    const ids = await findOwn(urlTokens, account)
    if (ids.length > 0) await store.lists.markSeen({ ownerId: account.id, ids })
    return ids.length
  }

  async function findOwn(urlTokens: readonly string[], account: Account): Promise<number[]> {
    const ids: number[] = []
    for (const urlToken of new Set(urlTokens.slice(0, MAX_SELECTED))) {
      const push = await finder.getOwnPush(urlToken, account).catch(nullIfMissing)
      if (push !== null) ids.push(push.id)
    }
    return ids
  }

  return { edit, notify, expireSelected, markSeen }
}

function sealChanged(wanted: LabelsToEdit, present: Labels, place: LabelContext): EditToPush['labels'] {
  const changed = (['name', 'note'] as const).filter(
    (field) => (wanted[field] ?? present[field]) !== present[field],
  )
  const sealed: [string, unknown][] = changed.map((field) => [
    field,
    sealLabel(field, wanted[field] ?? '', place),
  ])
  if (changed.includes('name')) sealed.push(['namesRecipient', wanted.namesRecipient === true])
  return Object.fromEntries(sealed)
}

/** Names every field at fault. */
function refuse({ problems }: WantedEdit, decision: EditDecision): DomainError {
  const ofPush = decision.outcome === 'refused' ? decision.problems : {}
  return invalidFields({ ...ofPush, ...problems })
}
