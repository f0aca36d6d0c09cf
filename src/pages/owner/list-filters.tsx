// The form above an owner's list: search, filters and order. A script sends it as soon as something is chosen.

import { PUSH_SORTS, PUSH_STATES, type PushSort, type PushState } from '../../domain/listing.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { KIND_WORDS } from '../frame/parts.tsx'
import { isFiltered, type ListQuery } from './list-query.ts'

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
  return (
    <search>
      <form method="get" action={`${guest.basePath}${PAGES.pushes.href()}`} class="filters">
        {(asked.list !== 'active' || asked.query !== '') && (
          <input type="hidden" name="show" value={asked.list} />
        )}
        {guest.query.has('locale') && <input type="hidden" name="locale" value={language} />}
        <div class="words">
          <label for="q">{say('pushes_search')}</label>
          <input id="q" name="q" type="search" value={asked.query} maxlength={200} />
        </div>
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
        <button type="submit" class="quiet">
          <Icon name="search" />
          {say('search')}
        </button>
        {isFiltered(asked) && (
          <a class="button bare" href={guest.href(PAGES.pushes.href())}>
            {say('pushes_show_all')}
          </a>
        )}
      </form>
    </search>
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
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <select id={`filter-${name}`} name={name} data-submits>
        {options.map(([value, text]) => (
          <option value={value} selected={value === (chosen ?? '')}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
