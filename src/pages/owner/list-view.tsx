// The page with an owner's list: tabs, filters, rows, actions on the selected rows, and links to other pages.

import { LIST_PAGE_SIZE, LIST_TABS } from '../../domain/listing.ts'
import { PAGES } from '../../http/urls.ts'
import type { Overview, OverviewPush } from '../../pushes/owner-lists.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest, Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { PageLinks, Tabs } from '../frame/lists.tsx'
import { Notice } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'
import { AskInPlace, queryOf } from './expire-question.tsx'
import { Filters } from './list-filters.tsx'
import { isFiltered, type ListQuery, listHref } from './list-query.ts'
import { ExampleRow, ListRow } from './list-row.tsx'

type Props = { guest: Member; listQuery: ListQuery; overview: Overview; now: number }

export function ListView(props: Props) {
  const { guest, listQuery, overview } = props
  const { say } = guest
  const { active, new: fresh, expired } = overview.counts
  const hasAny = active + fresh + expired > 0
  return (
    <>
      <div class="heading">
        <h1>{say('pushes_title')}</h1>
        {hasAny && (
          <a class="button" href={guest.href(PAGES.create.href())} aria-label={say('nav_create')}>
            <Icon name="plus" />
            <span class="on-wide">{say('nav_create')}</span>
          </a>
        )}
      </div>
      {hasAny && <ListTabs {...props} />}
      {hasAny && <Filters guest={guest} listQuery={listQuery} />}
      <ResultNotice guest={guest} />
      <div id="found">
        {isFiltered(listQuery) && <MatchCount {...props} />}
        {overview.damaged > 0 && <Notice kind="bad">{say('damaged', { n: overview.damaged })}</Notice>}
        {overview.isCut && <Notice kind="plain">{say('pushes_cut', { n: 20_000 })}</Notice>}
        {overview.pushes.length > 0 ? <Rows {...props} /> : <EmptyList {...props} hasAny={hasAny} />}
        <Pages {...props} />
      </div>
    </>
  )
}

/** Keep the filters in the links of the tabs, so that the same search runs on another list. */
function ListTabs({ guest, listQuery, overview: { counts } }: Props) {
  const { say, number } = guest.words
  const tabs = LIST_TABS.map((list) => ({
    href: guest.href(listHref({ ...listQuery, list, pageNumber: 1 })),
    text: [say(`pushes_${list}`), ' ', <span class="count">{number(counts[list])}</span>],
    isShown: listQuery.list === list,
  }))
  return <Tabs label={say('pushes_title')} tabs={tabs} />
}

/** The notice with the result of the last button. */
function ResultNotice({ guest }: { guest: Guest }) {
  const { say } = guest
  const done = guest.query.get('done')
  const n = /^\d{1,3}$/.test(guest.query.get('n') ?? '') ? Number(guest.query.get('n')) : 0
  if (done === 'expired') return <Notice kind="good">{say('pushes_done_expired', { n })}</Notice>
  return done === 'none' && <Notice kind="bad">{say('pushes_none_selected')}</Notice>
}

/**
 * Put the harmless button first, because Enter in a checkbox presses the first submit button. CSS moves the
 * buttons below the list.
 */
function Rows({ guest, listQuery, overview, now }: Props) {
  const { say } = guest
  return (
    <PostForm
      guest={guest}
      action={PAGES.changePushes.href()}
      hidden={{ list: queryOf(listHref(listQuery)) }}
      look="pushes"
    >
      <div class="selected" data-selected>
        <label class="select-all" hidden data-selects>
          <input type="checkbox" autocomplete="off" />
          {say('pushes_select_all')}
        </label>
        <button type="submit" name="do" value="seen" class="bare">
          <Icon name="eye" />
          {say('pushes_seen')}
        </button>
        {listQuery.list !== 'expired' && (
          <button type="submit" name="do" value="expire" class="danger">
            <Icon name="trash-2" />
            {say('pushes_expire')}
          </button>
        )}
        <AskInPlace words={guest.words} />
      </div>
      <div class="list" data-days={isByDay(listQuery)}>
        {listDays({ guest, listQuery, overview, now }).map(({ day, pushes }) => (
          <>
            {day !== null && <h2>{day}</h2>}
            <ul>
              {pushes.map((push) => (
                <ListRow guest={guest} listed={push} now={now} />
              ))}
            </ul>
          </>
        ))}
      </div>
    </PostForm>
  )
}

const isByDay = ({ sort }: ListQuery) => sort === 'newest' || sort === 'oldest'

type Day = { day: string | null; pushes: OverviewPush[] }

/** Groups the pushes by the day of their creation. In any other order they form one group without a day. */
function listDays({ guest: { words }, listQuery, overview, now }: Props): Day[] {
  const days: Day[] = []
  for (const listed of overview.pushes) {
    const day = isByDay(listQuery) ? words.day(listed.push.createdAt, now) : null
    const last = days.at(-1)
    if (last?.day === day) last.pushes.push(listed)
    else days.push({ day, pushes: [listed] })
  }
  return days
}

/** Shows how many pushes match the filters, with a link that removes the filters. */
function MatchCount({ guest, overview }: Props) {
  const { say } = guest
  return (
    <p class="matching">
      {say('pushes_matching', { n: overview.matching })}
      <a href={guest.href(PAGES.pushes.href())}>{say('pushes_show_all')}</a>
    </p>
  )
}

function EmptyList({ guest, listQuery, overview: { damaged }, now, hasAny }: Props & { hasAny: boolean }) {
  if (damaged > 0) return null
  if (hasAny) return <p class="nothing">{guest.say(emptyText(listQuery))}</p>
  return <Example guest={guest} now={now} />
}

/** Shown before the first push: an example row, and a link to the create page. */
function Example({ guest, now }: { guest: Member; now: number }) {
  const { say } = guest
  return (
    <div class="example">
      <p class="emblem">
        <Icon name="inbox" />
      </p>
      <p>{say('pushes_none')}</p>
      <p>{say('pushes_first')}</p>
      <div class="list" inert>
        <ul>
          <ExampleRow words={guest.words} now={now} />
        </ul>
      </div>
      <a class="button primary" href={guest.href(PAGES.create.href())}>
        <Icon name="plus" />
        {say('nav_create')}
      </a>
    </div>
  )
}

function emptyText(listQuery: ListQuery): WordKey {
  if (isFiltered(listQuery)) return 'pushes_not_found'
  if (listQuery.pageNumber > 1) return 'pushes_no_more'
  const { list } = listQuery
  if (list === 'new') return 'pushes_none_new'
  return list === 'expired' ? 'pushes_none_expired' : 'pushes_none'
}

/**
 * Links to the other pages. They contain the time of the first page, so that new pushes do not shift the
 * rows.
 */
function Pages({ guest, listQuery, overview: { matching, pushes } }: Props) {
  const { pageNumber } = listQuery
  const from = (pageNumber - 1) * LIST_PAGE_SIZE + 1
  const to = Math.min(matching, pageNumber * LIST_PAGE_SIZE)
  return (
    <PageLinks
      guest={guest}
      pageNumber={pageNumber}
      hasNext={pageNumber * LIST_PAGE_SIZE < matching && pushes.length > 0}
      linkTo={(page) => guest.href(listHref({ ...listQuery, pageNumber: page }))}
    >
      {from <= to && <span>{guest.say('pushes_range', { from, to, n: matching })}</span>}
    </PageLinks>
  )
}
