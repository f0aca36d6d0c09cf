// Why the create form was refused, with a link to each field at fault.

import { PAGES } from '../../../http/urls.ts'
import type { WordKey } from '../../../words/words.ts'
import { type Guest, signInHref } from '../../frame/guest.ts'
import { problemTexts, RefusedNotice } from '../../frame/parts.tsx'
import type { Refused } from './create-refusals.ts'

type Place = { id: string; word: WordKey }

const PLACES: Record<string, Place> = {
  files: { id: 'files', word: 'files' },
  wifi_network: { id: 'wifi_network', word: 'wifi_network' },
  wifi_password: { id: 'wifi_password', word: 'wifi_password' },
  expire_after: { id: 'expire_after', word: 'expire_after' },
  expire_after_days: { id: 'expire_after', word: 'expire_after' },
  expire_after_duration: { id: 'expire_after', word: 'expire_after' },
  expire_after_views: { id: 'expire_after_views', word: 'expire_after_views' },
  passphrase: { id: 'passphrase', word: 'passphrase' },
  name: { id: 'name', word: 'name' },
  note: { id: 'note', word: 'note' },
}

function placeOf(field: string, { typed }: Refused): Place | null {
  if (field !== 'payload') return PLACES[field] ?? null
  const kind = typed('kind')
  if (kind === 'url') return { id: 'link', word: 'payload_url' }
  if (kind !== 'qr') return { id: 'payload', word: kind === 'file' ? 'payload_file' : 'payload_text' }
  return { id: typed('qr_content') === 'wifi' ? 'wifi_network' : 'qr', word: 'payload_qr' }
}

export function WhyRefused({ guest, refused }: { guest: Guest; refused: Refused }) {
  const { href, words } = guest
  const { message, advice, forgetsFiles = false, madeUrlToken = null, isOfSomebodyElse = false } = refused
  return (
    <RefusedNotice>
      <p>{message}</p>
      {advice === undefined ? null : <p>{advice}</p>}
      <Troubles guest={guest} refused={refused} />
      {forgetsFiles ? <p data-forgotten>{words.say('files_again')}</p> : null}
      {madeUrlToken === null ? null : (
        <a href={href(PAGES.created.href({ url_token: madeUrlToken }))}>{words.say('create_made')}</a>
      )}
      {isOfSomebodyElse ? (
        <a href={href(signInHref(PAGES.create.href()))} target="_blank" rel="noopener">
          {words.say('form_sign_in')}
        </a>
      ) : null}
    </RefusedNotice>
  )
}

function Troubles({ guest: { words }, refused }: { guest: Guest; refused: Refused }) {
  const texts = Object.entries(problemTexts(refused.problems ?? {}, words))
  if (texts.length === 0) return null
  return (
    <ul>
      {texts.map(([field, text]) => {
        const place = placeOf(field, refused)
        return (
          <li key={field}>
            {place === null ? (
              text
            ) : (
              <a href={`#${place.id}`}>{words.say('labelled', { label: words.say(place.word), text })}</a>
            )}
          </li>
        )
      })}
    </ul>
  )
}
