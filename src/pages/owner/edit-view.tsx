// The form that edits a push: name and note always, limits while it is live.

import { viewsRemaining } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { WordKey } from '../../words/words.ts'
import { type FieldOf, Input, ProblemList, readFields, Select } from '../frame/fields.tsx'
import type { RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { NameInput, NoteInput } from '../frame/push-fields.tsx'
import { lifetimeText } from '../share/create/expiry-chips.ts'
import { ENDS_IN } from './edit-form.ts'

type Props = { guest: Member; owned: Labelled; isLive: boolean; refused: RefusedForm | null; now: number }

type PartProps = Props & { texts: Record<string, string>; field: FieldOf }

export function EditForm(props: Props) {
  const { guest, owned, isLive, refused } = props
  const { words } = guest
  const { say } = words
  const { name, note, push } = owned
  const { texts, field } = readFields(refused, words, { name, note, views: String(push.expireAfterViews) })
  const parts = { ...props, texts, field }
  return (
    <details id="edit" class="unprinted" open={refused !== null || guest.query.has('edit')}>
      <summary>{say('push_edit')}</summary>
      <PostForm guest={guest} action={PAGES.editPush.href({ url_token: owned.urlToken })}>
        {refused && <EditRefused {...parts} />}
        <NameInput words={words} {...field('name')} />
        <NoteInput words={words} {...field('note')} />
        {isLive && <Limits {...parts} />}
        <Submit look={isLive ? 'quiet' : 'primary'}>{say('edit_submit')}</Submit>
      </PostForm>
    </details>
  )
}

function Limits({ guest, owned: { push }, texts, field, now }: PartProps) {
  const { words } = guest
  const { say } = words
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

/** Where each field of an edit is in the form. An expired push has only its labels there. */
const PLACES: Record<string, { id: string; word: WordKey; isLimit?: boolean }> = {
  name: { id: 'name', word: 'name' },
  note: { id: 'note', word: 'note' },
  expires_at: { id: 'ends_in', word: 'edit_expires', isLimit: true },
  expire_after_views: { id: 'views', word: 'edit_views', isLimit: true },
}

function EditRefused({ guest: { words }, texts, isLive }: Pick<PartProps, 'guest' | 'texts' | 'isLive'>) {
  const places = Object.entries(texts).map(([field, text]) => {
    const place = PLACES[field]
    return place === undefined || (place.isLimit && !isLive)
      ? { id: null, text }
      : { id: place.id, text: words.say('labelled', { label: words.say(place.word), text }) }
  })
  return (
    <Notice kind="refused">
      <p>{words.say('edit_refused')}</p>
      <ProblemList places={places} />
    </Notice>
  )
}
