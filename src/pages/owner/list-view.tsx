// The page with an owner's list: tabs, filters, the rows, what can be done to the selected ones, and other pages.

import { LIST_PAGE_SIZE, PUSH_LISTS, type PushList } from '../../domain/listing.ts'
import { PAGES } from '../../http/urls.ts'
import type { Overview } from '../../pushes/owner-lists.ts'
import type { WordKey } from '../../words/words.ts'
import { FormToken } from '../frame/fields.tsx'
import type { Guest, Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { PageLinks } from '../frame/page.tsx'
import { DamageNotice, Notice } from '../frame/parts.tsx'
import { Filters } from './list-filters.tsx'
import { isFiltered, type ListQuery, listHref } from './list-query.ts'
import { Row } from './list-row.tsx'

type Shown = { asked: ListQuery; overview: Overview; now: number }

type Props = Shown & { guest: Member }

export function createListView(answer: AnswerGuest) {
  return (guest: Member, shown: Shown): Response => {
    const { say } = guest.words
    const { asked, overview } = shown
    const props = { ...shown, guest }
    const hasAny = overview.counts.live + overview.counts.expired > 0
    const content = (
      <>
        <div class="heading">
          <h1>{say('pushes_title')}</h1>
          <a class="button" href={guest.href(PAGES.create.href())}>
            <Icon name="plus" />
            {say('nav_create')}
          </a>
        </div>
        <Tabs {...props} />
        {hasAny ? <Filters guest={guest} asked={asked} /> : null}
        <Told guest={guest} />
        <DamageNotice damaged={overview.damaged} words={guest.words} />
        {overview.isCut ? (
          <Notice kind="plain">
            <p>{say('pushes_cut', { n: 20_000 })}</p>
          </Notice>
        ) : null}
        {overview.pushes.length > 0 ? <Rows {...props} /> : <Nothing {...props} />}
        <Pages {...props} />
      </>
    )
    return answer(content, { guest, title: say('pushes_title'), scripts: ['common', 'lists'], width: 'wide' })
  }
}

const LIST_WORDS: Record<PushList, WordKey> = {
  active: 'pushes_active',
  expired: 'pushes_expired',
  all: 'pushes_all',
}

/** Each tab keeps the filters, to search for the same in another list. */
function Tabs({ guest, asked, overview: { counts } }: Props) {
  const { say, number } = guest.words
  const sizes: Record<PushList, number> = {
    active: counts.live,
    expired: counts.expired,
    all: counts.live + counts.expired,
  }
  return (
    <nav class="tabs" aria-label={say('pushes_title')}>
      {PUSH_LISTS.map((list) => (
        <a
          href={guest.href(listHref({ ...asked, list, pageNumber: 1 }))}
          aria-current={asked.list === list ? 'page' : undefined}
        >
          {say(LIST_WORDS[list])} <span class="count">{number(sizes[list])}</span>
        </a>
      ))}
    </nav>
  )
}

/** The notice about what the last press of a button did. */
function Told({ guest }: { guest: Guest }) {
  const { say } = guest.words
  const done = guest.query.get('done')
  const n = /^\d{1,3}$/.test(guest.query.get('n') ?? '') ? Number(guest.query.get('n')) : 0
  if (done === 'expired') {
    return (
      <Notice kind="good">
        <p>{say('pushes_done_expired', { n })}</p>
      </Notice>
    )
  }
  return done === 'none' ? (
    <Notice kind="bad">
      <p>{say('pushes_none_selected')}</p>
    </Notice>
  ) : null
}

/** Enter in a checkbox presses the first button of the form, so the harmless one comes first. */
function Rows({ guest, asked, overview, now }: Props) {
  const { say } = guest.words
  const address = listHref(asked)
  return (
    <form method="post" action={guest.href(PAGES.changePushes.href())} class="pushes">
      <FormToken guest={guest} />
      <input type="hidden" name="list" value={address.split('?')[1] ?? ''} />
      <div class="selected" data-selected>
        <label class="select-all" hidden data-selects>
          <input type="checkbox" autocomplete="off" />
          {say('pushes_select_all')}
        </label>
        <span class="matching">{say('pushes_matching', { n: overview.matching })}</span>
        <button type="submit" name="do" value="seen" class="bare">
          <Icon name="eye" />
          {say('pushes_seen')}
        </button>
        {asked.list === 'expired' ? null : (
          <button type="submit" name="do" value="expire" class="danger">
            <Icon name="trash-2" />
            {say('pushes_expire')}
          </button>
        )}
      </div>
      <ul class="rows">
        {overview.pushes.map((push) => (
          <Row guest={guest} listed={push} now={now} />
        ))}
      </ul>
    </form>
  )
}

function Nothing({ guest, asked, overview: { damaged } }: Props) {
  const { say } = guest.words
  if (damaged > 0) return null
  return (
    <div class="nothing">
      <p>{say(emptyText(asked))}</p>
      {isFiltered(asked) ? (
        <a class="button quiet" href={guest.href(PAGES.pushes.href())}>
          {say('pushes_show_all')}
        </a>
      ) : null}
    </div>
  )
}

function emptyText(asked: ListQuery): WordKey {
  if (isFiltered(asked)) return 'pushes_not_found'
  if (asked.pageNumber > 1) return 'pushes_no_more'
  return asked.list === 'expired' ? 'pushes_none_expired' : 'pushes_none'
}

/** Links to later pages carry the time of the first page, so that new pushes do not shift the rows. */
function Pages({ guest, asked, overview: { matching, pushes } }: Props) {
  const { pageNumber } = asked
  const from = (pageNumber - 1) * LIST_PAGE_SIZE + 1
  const to = Math.min(matching, pageNumber * LIST_PAGE_SIZE)
  return (
    <PageLinks
      guest={guest}
      pageNumber={pageNumber}
      hasNext={pageNumber * LIST_PAGE_SIZE < matching && pushes.length > 0}
      linkTo={(page) => guest.href(listHref({ ...asked, pageNumber: page }))}
    >
      {from <= to ? <span>{guest.words.say('pushes_range', { from, to, n: matching })}</span> : null}
    </PageLinks>
  )
}
