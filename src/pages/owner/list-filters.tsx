// The form above an owner's list: search, filters and sort order. A script submits it on every choice. On
// phones the filters fold into a menu; on wide windows they stand in a row.

import { PUSH_SORTS, PUSH_STATES } from '../../domain/listing.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { SearchInput } from '../frame/lists.tsx'
import type { ListQuery } from './list-query.ts'

export function Filters({ guest, listQuery }: { guest: Guest; listQuery: ListQuery }) {
  const { say, language } = guest.words
  const kinds = PUSH_KINDS.map((one) => [one, say(`kind_${one}`)] as const)
  const states = PUSH_STATES.map((one) => [one, say(`pushes_${one}`)] as const)
  const sorts = PUSH_SORTS.map((one) => [one === 'newest' ? '' : one, say(`sort_${one}`)] as const)
  const { list, query, kind, state, sort } = listQuery
  const chosen = [kind, state, sort === 'newest' ? null : sort].filter(Boolean).length
  return (
    <search>
      <form method="get" action={`${guest.basePath}${PAGES.pushes.href()}`} class="filters">
        {(list !== 'active' || query !== '') && <input type="hidden" name="show" value={list} />}
        {guest.query.has('locale') && <input type="hidden" name="locale" value={language} />}
        <SearchInput words={guest.words} label={say('pushes_search')} value={query} shortcut="/" />
        <details class="menu">
          <summary class="button quiet">
            <Icon name="sliders-horizontal" />
            <span>{say('pushes_filter')}</span>
            {chosen > 0 && <span class="count">{guest.words.number(chosen)}</span>}
          </summary>
          <Choice
            name="kind"
            label={say('pushes_kind')}
            chosen={kind}
            options={[['', say('pushes_any_kind')], ...kinds]}
          />
          <Choice
            name="state"
            label={say('pushes_state')}
            chosen={state}
            options={[['', say('pushes_any_state')], ...states]}
          />
          <Choice name="sort" label={say('pushes_sort')} chosen={sort} options={sorts} />
        </details>
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
    <select name={name} aria-label={label} data-submits>
      {options.map(([value, text]) => (
        <option value={value} selected={value === (chosen ?? '')}>
          {text}
        </option>
      ))}
    </select>
  )
}
