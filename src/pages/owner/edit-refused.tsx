// Why an edit of a push was not saved, with a link to each field at fault.

import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { RefusedNotice } from '../frame/parts.tsx'

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
            <li key={field}>
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
