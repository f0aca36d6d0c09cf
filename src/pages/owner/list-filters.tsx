// The form above an owner's list: search, filters and order. A script sends it as soon as something is chosen. The filters are
// a menu on phones, and stand in the row on wide windows.

import { PUSH_SORTS, PUSH_STATES, type PushSort, type PushState } from '../../domain/listing.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { KIND_WORDS } from '../frame/parts.tsx'
import type { ListQuery } from './list-query.ts'

const STATE_WORDS: Record<PushState, WordKey> = {
  waiting: 'pushes_waiting',
  opened: 'pushes_opened',
  ending: 'pushes_ending',
  unseen: 'pushes_unseen',
  lost: 'pushes_lost',
}

const SORT_WORDS: Record<PushSort, WordKey> = {
  newest: 'sort_newest',
  oldest: 'sort_oldest',
  ending: 'sort_ending',
  opened: 'sort_opened',
  name: 'sort_name',
}

export function Filters({ guest, asked }: { guest: Guest; asked: ListQuery }) {
  const { say, language } = guest.words
  const kinds = PUSH_KINDS.map((kind) => [kind, say(KIND_WORDS[kind])] as const)
  const states = PUSH_STATES.map((state) => [state, say(STATE_WORDS[state])] as const)
  const sorts = PUSH_SORTS.map((sort) => [sort === 'newest' ? '' : sort, say(SORT_WORDS[sort])] as const)
  const chosen = [asked.kind, asked.state, asked.sort === 'newest' ? null : asked.sort].filter(Boolean).length
  return (
    <search>
      <form method="get" action={`${guest.basePath}${PAGES.pushes.href()}`} class="filters">
        {(asked.list !== 'active' || asked.query !== '') && (
          <input type="hidden" name="show" value={asked.list} />
        )}
        {guest.query.has('locale') && <input type="hidden" name="locale" value={language} />}
        <Search words={guest.words} query={asked.query} />
        <details class="menu">
          <summary class="button quiet">
            <Icon name="sliders-horizontal" />
            {say('pushes_filter')}
            {chosen > 0 && <span class="count">{guest.words.number(chosen)}</span>}
          </summary>
          <Choice
            name="kind"
            label={say('pushes_kind')}
            chosen={asked.kind}
            options={[['', say('pushes_any_kind')], ...kinds]}
          />
          <Choice
            name="state"
            label={say('pushes_state')}
            chosen={asked.state}
            options={[['', say('pushes_any_state')], ...states]}
          />
          <Choice name="sort" label={say('pushes_sort')} chosen={asked.sort} options={sorts} />
        </details>
      </form>
    </search>
  )
}

function Search({ words: { say }, query }: { words: Words; query: string }) {
  return (
    <div class="words trailing">
      <input
        id="q"
        name="q"
        type="search"
        dir="auto"
        value={query}
        maxlength={200}
        placeholder={say('pushes_search')}
        aria-label={say('pushes_search')}
        aria-keyshortcuts="/"
      />
      <button type="submit" class="bare" aria-label={say('search')}>
        <Icon name="search" />
      </button>
    </div>
  )
}

type ChoiceProps = {
  name: string
  label: string
  chosen: string | null
  options: (readonly [value: string, text: string])[]
}

function Choice({ name, label, chosen, options }: ChoiceProps) {
  return (
    <select name={name} aria-label={label} data-submits>
      {options.map(([value, text]) => (
        <option value={value} selected={value === (chosen ?? '')}>
          {text}
        </option>
      ))}
    </select>
  )
}
