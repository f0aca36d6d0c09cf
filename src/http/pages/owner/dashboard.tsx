// The owner's lists of active and expired pushes, with a search by name and note.

import { isExpired, isLocked, viewsRemaining } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { Labelled } from '../../../services/pushes/owner-lists.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import { PAGES } from '../../urls.ts'
import type { Guest, Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { DamageNotice, KIND_WORDS, Moment } from '../frame/parts.tsx'

export type DashboardOptions = { answer: AnswerGuest; pushes: Pick<Pushes, 'list' | 'search'>; now: Now }

type Asked = { expired: boolean; pageNumber: number; query: string }

export function createDashboard({ answer, pushes, now }: DashboardOptions) {
  return async (guest: Member): Promise<Response> => {
    const asked = readAsked(guest)
    const { say } = guest.words
    const {
      pushes: listed,
      damaged,
      isFull,
    } = asked.query === ''
      ? await pushes.list(guest.account, asked)
      : await pushes.search(guest.account, asked)
    const content = (
      <>
        <h1>{say('pushes_title')}</h1>
        <nav class="tabs" aria-label={say('pushes_title')}>
          <a href={guest.href(PAGES.pushes.href())} aria-current={asked.expired ? undefined : 'page'}>
            {say('pushes_active')}
          </a>
          <a
            href={guest.href(`${PAGES.pushes.href()}?show=expired`)}
            aria-current={asked.expired ? 'page' : undefined}
          >
            {say('pushes_expired')}
          </a>
        </nav>
        <SearchForm guest={guest} asked={asked} />
        <DamageNotice damaged={damaged} words={guest.words} />
        {listed.length + damaged === 0 ? <p>{say(emptyText(asked))}</p> : null}
        <ul class="rows">
          {listed.map((push) => (
            <Row key={push.urlToken} guest={guest} listed={push} now={now()} />
          ))}
        </ul>
        <Pages guest={guest} asked={asked} hasNext={isFull} />
      </>
    )
    return answer(content, { guest, title: say('pushes_title'), scripts: ['common'] })
  }
}

/** An invalid page number means page 1. */
function readAsked({ query }: Guest): Asked {
  const page = query.get('page') ?? ''
  return {
    expired: query.get('show') === 'expired',
    pageNumber: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
    query: (query.get('q') ?? '').trim().slice(0, 200),
  }
}

function emptyText({ query, expired, pageNumber }: Asked): WordKey {
  if (query !== '') return 'pushes_not_found'
  if (pageNumber > 1) return 'pushes_no_more'
  return expired ? 'pushes_none_expired' : 'pushes_none'
}

function SearchForm({ guest, asked }: { guest: Guest; asked: Asked }) {
  const { say } = guest.words
  return (
    <search>
      <form method="get" action={guest.href(PAGES.pushes.href())} class="search">
        {asked.expired ? <input type="hidden" name="show" value="expired" /> : null}
        <label for="q">{say('pushes_search')}</label>
        <input id="q" name="q" type="search" value={asked.query} maxlength={200} />
        <button type="submit" class="quiet">
          {say('search')}
        </button>
      </form>
    </search>
  )
}

function Row({ guest, listed, now }: { guest: Guest; listed: Labelled; now: number }) {
  const { words } = guest
  const { push, urlToken, name, note } = listed
  return (
    <li>
      <div>
        <a href={guest.href(PAGES.push.href({ url_token: urlToken }))} class="title">
          <bdi>{name || words.say('push_unnamed', { kind: words.say(KIND_WORDS[push.kind]) })}</bdi>
        </a>
        {note === '' ? null : (
          <p class="hint note">
            <bdi>{note}</bdi>
          </p>
        )}
        <p class="hint">
          {words.say('created_on')} <Moment at={push.createdAt} words={words} />
        </p>
      </div>
      <State words={words} listed={listed} now={now} />
    </li>
  )
}

/** The remaining views and time, or when the push expired. */
export function State({ words, listed: { push }, now }: { words: Words; listed: Labelled; now: number }) {
  if (isExpired(push, now)) {
    const at = push.expiredOn ?? push.expiresAt
    return (
      <p class="state">
        {words.say(push.deleted ? 'state_deleted' : 'state_expired')} <Moment at={at} words={words} />
      </p>
    )
  }
  const left = viewsRemaining(push)
  return (
    <div class="state">
      <meter
        min={0}
        max={push.expireAfterViews}
        value={left}
        aria-label={words.say('state_views', { n: left, of: push.expireAfterViews })}
      />
      <p>{words.say('state_views', { n: left, of: push.expireAfterViews })}</p>
      {isLocked(push) ? (
        <p>
          <strong>{words.say('state_locked')}</strong>
        </p>
      ) : null}
      <p class="hint">
        {words.say('state_until')} <Moment at={push.expiresAt} words={words} />
      </p>
    </div>
  )
}

function Pages({ guest, asked, hasNext }: { guest: Guest; asked: Asked; hasNext: boolean }) {
  const { say } = guest.words
  const { pageNumber, expired, query } = asked
  const linkTo = (page: number) => {
    const parameters = new URLSearchParams()
    if (expired) parameters.set('show', 'expired')
    if (query !== '') parameters.set('q', query)
    if (page > 1) parameters.set('page', String(page))
    const text = parameters.toString()
    return guest.href(`${PAGES.pushes.href()}${text === '' ? '' : `?${text}`}`)
  }
  if (pageNumber === 1 && !hasNext) return null
  return (
    <nav class="pages" aria-label={say('pages')}>
      {pageNumber > 1 ? (
        <a href={linkTo(pageNumber - 1)} rel="prev">
          {say('page_newer')}
        </a>
      ) : null}
      <span>{say('page_number', { page: pageNumber })}</span>
      {hasNext ? (
        <a href={linkTo(pageNumber + 1)} rel="next">
          {say('page_older')}
        </a>
      ) : null}
    </nav>
  )
}
