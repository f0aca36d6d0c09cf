// The people on the administration page: accounts, a search for them, and invitations.

import type { Person } from '../../accounts/people.ts'
import type { Account, AccountLink } from '../../domain/account.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey, Words } from '../../words/words.ts'
import { EmailInput } from '../account/account-fields.tsx'
import { RefusedFields, readFields, Tick } from '../frame/fields.tsx'
import type { RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, readPage } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { PageLinks, Row, SearchInput } from '../frame/lists.tsx'
import { Card, Chip, Moment } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'

/** A page of the accounts that match a search. */
type PeoplePage = { people: Person[]; total: number; pages: number; pageNumber: number; search: string }

type PeopleProps = { guest: Member; listed: PeoplePage; resetNonce: (account: Account) => string }

export function PeopleSection({ guest, listed, resetNonce }: PeopleProps) {
  const { say } = guest
  const { people, total, search, pages } = listed
  return (
    <Card id="people" title={say('admin_people')}>
      {(pages > 1 || search !== '') && (
        <form method="get" action={guest.href(PAGES.admin.href())}>
          <SearchInput words={guest.words} label={say('email')} value={search} />
        </form>
      )}
      <p class="hint">{say('admin_people_count', { n: total })}</p>
      <ul class="rows people">
        {people.map((person) => (
          <PersonRow {...{ guest, person, listed }} resetNonce={resetNonce(person)} />
        ))}
      </ul>
      <Pages guest={guest} listed={listed} />
    </Card>
  )
}

type RowProps = { guest: Member; person: Person; listed: PeoplePage; resetNonce: string }

function PersonRow({ guest, person, listed, resetNonce }: RowProps) {
  const { say } = guest
  const isOwn = person.id === guest.account.id
  return (
    <Row
      title={person.email}
      action={!isOwn && <Actions guest={guest} account={person} listed={listed} resetNonce={resetNonce} />}
    >
      <p class="chips">
        {person.isAdmin && <Chip tone="waiting">{say('role_admin')}</Chip>}
        {person.hasTwoFactor && <Chip tone="good">{say('account_two_factor')}</Chip>}
        {person.isAdmin && !person.hasTwoFactor && <Chip tone="low">{say('account_no_two_factor')}</Chip>}
        {person.disabledAt !== null && <Chip tone="bad">{say('account_disabled')}</Chip>}
        {person.isService && <Chip tone="gone">{say('account_service')}</Chip>}
        {isOwn && <Chip tone="gone">{say('account_own')}</Chip>}
      </p>
      <p class="hint">{activityOf(person, guest.words)}</p>
    </Row>
  )
}

function activityOf({ lastSignInAt, pushes, bytes }: Person, words: Words): Children {
  const { say } = words
  return [
    lastSignInAt === null
      ? say('person_never')
      : [say('person_last'), ' ', <Moment at={lastSignInAt} words={words} />],
    ` · ${say('person_pushes', { n: pushes })}`,
    pushes > 0 && ` · ${words.bytes(bytes)}`,
  ]
}

const WORDS_OF_CHANGE = {
  ...({ promote: 'account_promote', demote: 'account_demote' } as const),
  ...({ disable: 'account_disable', enable: 'account_enable' } as const),
  ...({ service: 'account_mark_service', person: 'account_person' } as const),
}

type ActionsProps = { guest: Member; account: Account; listed: PeoplePage; resetNonce: string }

function Actions({ guest, account, listed, resetNonce }: ActionsProps) {
  const { say } = guest
  const { id, isAdmin, disabledAt, hasPassword, isService } = account
  const changes = [
    isAdmin ? 'demote' : 'promote',
    disabledAt === null ? 'disable' : 'enable',
    // The API tokens of an account with a password never pause.
    ...(hasPassword ? [] : [isService ? ('person' as const) : ('service' as const)]),
  ] as const
  const to = (action: { href: (of: { id: number }) => string }) => `${action.href({ id })}${queryOf(listed)}`
  return (
    <details class="more">
      <summary aria-label={say('labelled', { label: say('account_change'), text: account.email })}>
        {say('account_change')}
      </summary>
      {changes.map((change) => (
        <ButtonForm
          guest={guest}
          action={to(PAGES[`${change}Account`])}
          label={say(WORDS_OF_CHANGE[change])}
        />
      ))}
      <PostForm guest={guest} action={to(PAGES.resetAccount)} hidden={{ nonce: resetNonce }}>
        {account.hasTwoFactor && (
          <Tick id={`two-factor-${id}`} name="two_factor" label={say('account_reset_two_factor')} />
        )}
        <Submit look="quiet">{say('account_reset')}</Submit>
      </PostForm>
      <PostForm guest={guest} action={to(PAGES.removeAccount)}>
        <Tick
          id={`sure-${id}`}
          name="sure"
          label={say('account_remove_sure', { email: account.email })}
          isRequired
        />
        <Submit look="danger" label={say('labelled', { label: say('account_remove'), text: account.email })}>
          {say('account_remove')}
        </Submit>
      </PostForm>
    </details>
  )
}

/** Returns the query that leads back to this page of the list. */
function queryOf({ search, pageNumber }: Pick<PeoplePage, 'search' | 'pageNumber'>): string {
  const query = new URLSearchParams()
  if (search !== '') query.set('q', search)
  if (pageNumber > 1) query.set('page', String(pageNumber))
  return query.size === 0 ? '' : `?${query}`
}

function Pages({ guest, listed }: { guest: Member; listed: PeoplePage }) {
  const { pageNumber, pages } = listed
  if (pages === 1) return null
  return (
    <PageLinks
      guest={guest}
      pageNumber={pageNumber}
      hasNext={pageNumber < pages}
      linkTo={(page) => guest.href(`${PAGES.admin.href()}${queryOf({ ...listed, pageNumber: page })}`)}
    >
      <span>{guest.say('page_of', { page: pageNumber, pages })}</span>
    </PageLinks>
  )
}

/** Returns the text that names the purpose of an account link. */
function linkWord({ purpose, isAdmin }: AccountLink): WordKey {
  if (purpose === 'reset') return 'admin_link_reset'
  return isAdmin ? 'role_admin' : 'role_user'
}

type InvitationsProps = {
  guest: Member
  invitations: AccountLink[]
  /** A nonce for one invitation, so that a reload creates no second one. */
  nonce: string
  refused: RefusedForm | null
  hasMail: boolean
}

export function Invitations(props: InvitationsProps) {
  const { guest, invitations, nonce, refused, hasMail } = props
  const { words, say } = guest
  const { texts, field, ticked } = readFields(refused, words)
  const { problem, value } = field('email')
  return (
    <Card id="invite" title={say('admin_invite')}>
      <PostForm guest={guest} action={PAGES.invite.href()} hidden={{ nonce }} look="narrow">
        <RefusedFields problems={texts} words={words} />
        <EmailInput
          words={words}
          hint={say('admin_invite_hint')}
          {...{ problem, value }}
          attributes={{ autocomplete: 'off' }}
        />
        <Tick {...ticked('is_admin', false)} label={say('admin_invite_admin')} />
        {hasMail && <Tick {...ticked('send', true)} label={say('admin_invite_send')} />}
        <button type="submit">{say('admin_invite_submit')}</button>
      </PostForm>
      {invitations.length > 0 && (
        <ul class="rows">
          {invitations.map((link) => (
            <Row
              title={link.email}
              action={
                <ButtonForm
                  guest={guest}
                  action={PAGES.withdrawInvitation.href({ id: link.id })}
                  label={say('admin_withdraw')}
                />
              }
            >
              <p class="hint">
                {say(linkWord(link))}: {say('admin_invited_until')}{' '}
                <Moment at={link.expiresAt} words={words} />
              </p>
            </Row>
          ))}
        </ul>
      )}
    </Card>
  )
}

/** Reads the search and page from the URL. */
export function readPeopleQuery(guest: Member) {
  return { search: guest.query.get('q')?.trim() ?? '', pageNumber: readPage(guest) }
}

/** Redirects to the same page of people. */
export function backToPeople(guest: Member): Response {
  return leadTo(guest, `${PAGES.admin.href()}${queryOf(readPeopleQuery(guest))}`)
}
