// The form that edits a push: name and note always, limits while it is live.

import type { Problems } from '../../domain/problems.ts'
import { viewsRemaining } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { WordKey } from '../../words/words.ts'
import { Field, FormToken, Input, LabelFields, problemTexts } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import type { Guest, Member } from '../frame/guest.ts'
import { RefusedNotice } from '../frame/parts.tsx'
import { ENDS_IN, sayLength } from './edit-form.ts'

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
      <form method="post" action={guest.href(PAGES.editPush.href({ url_token: owned.urlToken }))}>
        <FormToken guest={guest} />
        {refused === null ? null : <EditRefused guest={guest} texts={texts} isLive={isLive} />}
        <LabelFields
          words={guest.words}
          fields={{ name: 'name', note: 'note' }}
          values={{ name: typed('name', owned.name), note: typed('note', owned.note) }}
          texts={texts}
          noteRows={3}
        />
        {isLive ? <Limits {...parts} /> : null}
        <button type="submit" class="primary">
          {say('edit_submit')}
        </button>
      </form>
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
                {say('edit_in', { time: sayLength(milliseconds, words) })}
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

type EditRefusedProps = {
  guest: Guest
  /** What is wrong, by the field of the edit. */
  texts: Record<string, string>
  /** Whether the form shows the limits. An expired push has only its labels. */
  isLive: boolean
}

/** Where each field of an edit is in the form. */
const PLACES: Record<string, { id: string; word: WordKey; isLimit: boolean }> = {
  name: { id: 'name', word: 'name', isLimit: false },
  note: { id: 'note', word: 'note', isLimit: false },
  expires_at: { id: 'ends_in', word: 'edit_expires', isLimit: true },
  expire_after_views: { id: 'views', word: 'edit_views', isLimit: true },
}

export function EditRefused({ guest: { words }, texts, isLive }: EditRefusedProps) {
  return (
    <RefusedNotice>
      <p>{words.say('edit_refused')}</p>
      <ul>
        {Object.entries(texts).map(([field, text]) => {
          const place = PLACES[field]
          const isShown = place !== undefined && (isLive || !place.isLimit)
          return (
            <li>
              {isShown ? (
                <a href={`#${place.id}`}>{words.say('labelled', { label: words.say(place.word), text })}</a>
              ) : (
                text
              )}
            </li>
          )
        })}
      </ul>
    </RefusedNotice>
  )
}
