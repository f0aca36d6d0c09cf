// The form that edits a push: name and note always, limits while it is live. The owner chooses the expiry
// relative to now.

import type { WantedEdit } from '../../domain/editing.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { viewsRemaining } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { createFields } from '../../http/intake/members.ts'
import { createEditTable } from '../../http/intake/push-edit.ts'
import { PAGES } from '../../http/urls.ts'
import type { LabelledPush } from '../../pushes/owner-lists.ts'
import { type FieldLabels, type FieldOf, Input, ProblemList, readFields, Select } from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { NameInput, NoteInput } from '../frame/push-fields.tsx'
import { lifetimeText } from '../share/create/expiry-chips.ts'

type Props = {
  guest: Member
  owned: LabelledPush
  isLive: boolean
  refused: RefusedForm | null
  isEditing: boolean
  now: number
}

type PartProps = Props & { texts: Record<string, string>; field: FieldOf }

/** The edit form: folded on the page of its push, open on its own page. */
export function EditForm(props: Props) {
  const { guest, owned, isLive, refused, isEditing } = props
  const { words, say } = guest
  const { name, note, push } = owned
  const { texts, field } = readFields(refused, words, { name, note, views: String(push.expireAfterViews) })
  const parts = { ...props, texts, field }
  return (
    <details id="edit" class="unprinted" open={isEditing}>
      <summary>{say('push_edit')}</summary>
      <PostForm guest={guest} action={PAGES.editPush.href({ url_token: owned.urlToken })}>
        {refused && (
          <Notice kind="refused">
            <p>{say('edit_refused')}</p>
            <ProblemList texts={texts} places={isLive ? LIVE_FIELDS : EXPIRED_FIELDS} words={words} />
          </Notice>
        )}
        <NameInput words={words} {...field('name')} />
        <NoteInput words={words} {...field('note')} />
        {isLive && <Limits {...parts} />}
        <Submit look={isLive && !isEditing ? 'quiet' : 'primary'}>{say('edit_submit')}</Submit>
      </PostForm>
      {isEditing && (
        <p>
          <a href={guest.href(PAGES.push.href({ url_token: owned.urlToken }))}>{say('cancel')}</a>
        </p>
      )}
    </details>
  )
}

function Limits({ guest, owned: { push }, texts, field, now }: PartProps) {
  const { words, say } = guest
  const choices = ENDS_IN.filter((milliseconds) => now + milliseconds < push.expiresAt)
  const isFixed = viewsRemaining(push) === 1
  return (
    <div class="pair">
      <Select
        {...field('ends_in')}
        label={say('edit_expires')}
        hint={say('edit_sooner')}
        problem={texts.expires_at}
        options={[
          ['', say('edit_keep', { when: words.relative(push.expiresAt, now) })],
          ...choices.map((ms) => [ms, say('edit_in', { time: lifetimeText(ms, words) })] as const),
        ]}
      />
      <Input
        {...field('views')}
        type="number"
        label={say('edit_views')}
        hint={say('expire_after_views_hint', { min: push.views + 1, n: push.expireAfterViews })}
        problem={texts.expire_after_views}
        attributes={{
          inputmode: 'numeric',
          min: push.views + 1,
          max: push.expireAfterViews,
          step: 1,
          readonly: isFixed,
        }}
      />
    </div>
  )
}

/** The fields for an expired push, with their labels. */
const EXPIRED_FIELDS: FieldLabels = { name: ['name', 'name'], note: ['note', 'note'] }
const LIVE_FIELDS: FieldLabels = {
  ...EXPIRED_FIELDS,
  expires_at: ['ends_in', 'edit_expires'],
  expire_after_views: ['views', 'edit_views'],
}

/** The offered lifetimes from now on, in milliseconds. */
const ENDS_IN: readonly number[] = [
  ...[15 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR],
  ...[1, 2, 3, 7, 14, 30, 60].map((days) => days * DAY),
]

export function createReadEditForm(limits: PushLimits) {
  const { name, note, expire_after_views } = createEditTable(limits)
  const table = { name, note, expire_after_views }

  return (form: Form, now: number): WantedEdit => {
    // Browsers submit line breaks as CR LF.
    const plain = { name: form.text('name'), note: form.text('note').replaceAll('\r\n', '\n') }
    const fields = createFields(table, { ...plain, expire_after_views: form.text('views') })
    const endsIn = ENDS_IN.find((milliseconds) => String(milliseconds) === form.text('ends_in'))
    const edit = {
      name: plain.name === '' ? '' : fields.read('name'),
      namesRecipient: true,
      note: plain.note === '' ? '' : fields.read('note'),
      expireAfterViews: fields.read('expire_after_views'),
      expiresAt: endsIn === undefined ? null : now + endsIn,
      ...{ expireAfterDays: null, duration: null },
    }
    return { edit, problems: fields.problems }
  }
}
