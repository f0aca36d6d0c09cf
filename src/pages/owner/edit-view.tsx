// The form that edits a push: name and note always, limits while it is live.

import type { Problems } from '../../domain/problems.ts'
import { viewsRemaining } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { WordKey } from '../../words/words.ts'
import { Field, Input, NameInput, NoteField, ProblemList, problemTexts } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { lifetimeText } from '../share/create/expiry-chips.ts'
import { ENDS_IN } from './edit-form.ts'

/** An edit that was refused: what was sent, and what is wrong with it. */
export type RefusedEdit = { form: Form; problems: Problems }

type Props = { guest: Member; owned: Labelled; isLive: boolean; refused: RefusedEdit | null; now: number }

type PartProps = Props & { texts: Record<string, string>; typed: (field: string, present: string) => string }

export function EditForm(props: Props) {
  const { guest, owned, isLive, refused } = props
  const { say } = guest.words
  const texts = problemTexts(refused?.problems ?? {}, guest.words)
  const typed = (field: string, present: string) => refused?.form.text(field) ?? present
  const parts = { ...props, texts, typed }
  return (
    <details id="edit" class="unprinted" open={refused !== null || guest.query.has('edit')}>
      <summary>{say('push_edit')}</summary>
      <PostForm guest={guest} action={PAGES.editPush.href({ url_token: owned.urlToken })}>
        {refused && <EditRefused {...parts} />}
        <NameInput words={guest.words} name="name" value={typed('name', owned.name)} problem={texts.name} />
        <NoteField words={guest.words} name="note" value={typed('note', owned.note)} problem={texts.note} />
        {isLive && <Limits {...parts} />}
        <Submit look={isLive ? 'quiet' : 'primary'}>{say('edit_submit')}</Submit>
      </PostForm>
    </details>
  )
}

function Limits({ guest, owned: { push }, texts, typed, now }: PartProps) {
  const { words } = guest
  const { say } = words
  const choices = ENDS_IN.filter((milliseconds) => now + milliseconds < push.expiresAt)
  const isFixed = viewsRemaining(push) === 1
  return (
    <div class="pair">
      <Field id="ends_in" label={say('edit_expires')} hint={say('edit_sooner')} problem={texts.expires_at}>
        {(describes) => (
          <select name="ends_in" {...describes}>
            <option value="">{say('edit_keep', { when: words.relative(push.expiresAt, now) })}</option>
            {choices.map((milliseconds) => (
              <option value={milliseconds} selected={typed('ends_in', '') === String(milliseconds)}>
                {say('edit_in', { time: lifetimeText(milliseconds, words) })}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Input
        id="views"
        name="views"
        type="number"
        label={say('edit_views')}
        hint={say('expire_after_views_hint', { min: push.views + 1, n: push.expireAfterViews })}
        problem={texts.expire_after_views}
        value={typed('views', String(push.expireAfterViews))}
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
