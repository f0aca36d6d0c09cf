// The header of every page: name and navigation for senders, name and host for recipients.

import { MOST_UNSEEN } from '../../domain/listing.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import { BrandName, linked } from './brand.tsx'
import type { Guest } from './guest.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'
import { PostForm } from './post-form.tsx'

type Link = { to: string; label: WordKey; icon: IconName }

const CREATE: Link = { to: PAGES.create.href(), label: 'nav_create', icon: 'plus' }
const REQUESTS: Link = { to: PAGES.requests.href(), label: 'nav_requests', icon: 'inbox' }
const PUSHES: Link = { to: PAGES.pushes.href(), label: 'nav_pushes', icon: 'list' }
const ADMIN: Link = { to: PAGES.admin.href(), label: 'nav_admin', icon: 'settings' }
const SIGN_IN: Link = { to: PAGES.signIn.href(), label: 'nav_sign_in', icon: 'log-in' }
const OF_ACCOUNT: Link[] = [
  { to: PAGES.account.href(), label: 'nav_account', icon: 'user' },
  { to: PAGES.tokens.href(), label: 'tokens_title', icon: 'key-round' },
]

export function Header({ guest }: { guest: Guest }) {
  return (
    <Top guest={guest}>
      <a class="skip" href="#main">
        {guest.say('skip')}
      </a>
      <a class="brand" href={guest.href(PAGES.create.href())}>
        <BrandName brand={guest.brand} />
      </a>
      {!guest.isUnknown && <Navigation guest={guest} />}
    </Top>
  )
}

/**
 * The header for recipients. It has no links, and shows the host to compare with the browser's address bar.
 */
export function RecipientHeader({ guest }: { guest: Guest }) {
  const { host } = guest.exchange
  return (
    <Top guest={guest}>
      <span class="brand">
        <BrandName brand={guest.brand} />
      </span>
      {host !== null && (
        <span class="host">
          <Icon name="globe" />
          <bdi dir="ltr">{host}</bdi>
        </span>
      )}
    </Top>
  )
}

/** Frames the header and adds the operator's notice below. */
function Top({ guest: { brand }, children }: { guest: Guest; children: Children }) {
  return (
    <header>
      <div class="top">{children}</div>
      {brand.notice !== null && (
        <div class="announcement">
          <p>{linked(brand.notice)}</p>
        </div>
      )}
    </header>
  )
}

/** Shows links in a row on wide windows and in the account menu on phones. */
function Navigation({ guest }: { guest: Guest }) {
  const { words, session } = guest
  const links =
    session === null
      ? [CREATE, SIGN_IN]
      : [CREATE, REQUESTS, PUSHES, ...(session.account.isAdmin ? [ADMIN] : [])]
  return (
    <nav aria-label={words.say('nav')}>
      <ul class="on-wide">
        {links.map((link) => (
          <NavLink link={link} guest={guest} />
        ))}
      </ul>
      <details class={session === null ? 'menu on-phone' : 'menu'}>
        <summary>
          <Icon name={session === null ? 'menu' : 'circle-user-round'} />
          <span class={session === null ? undefined : 'on-phone'}>{words.say('menu')}</span>
          <span class="on-phone">
            <Unseen guest={guest} />
          </span>
          {session !== null && <bdi class="on-wide">{session.account.email}</bdi>}
        </summary>
        <div class="sheet">
          <ul class="on-phone">
            {links.map((link) => (
              <NavLink link={link} guest={guest} />
            ))}
          </ul>
          {session !== null && <AccountMenu guest={guest} email={session.account.email} />}
        </div>
      </details>
    </nav>
  )
}

function AccountMenu({ guest, email }: { guest: Guest; email: string }) {
  const { words } = guest
  return (
    <>
      <p>{words.say('nav_signed_in', { email })}</p>
      <ul>
        {OF_ACCOUNT.map((link) => (
          <NavLink link={link} guest={guest} />
        ))}
      </ul>
      <PostForm guest={guest} action={PAGES.signOut.href()}>
        <button type="submit">
          <Icon name="log-out" />
          {words.say('sign_out')}
        </button>
      </PostForm>
    </>
  )
}

function NavLink({ link: { to, label, icon }, guest }: { link: Link; guest: Guest }) {
  const isHere = guest.path === to || guest.path.startsWith(`${to}/`)
  return (
    <li>
      <a href={guest.href(to)} aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} />
        {guest.say(label)}
        {to === PUSHES.to && <Unseen guest={guest} />}
      </a>
    </li>
  )
}

/** Shows the number of pushes that are new since the member last looked. */
function Unseen({ guest: { words, unseen } }: { guest: Guest }) {
  return (
    <span class="count" hidden={unseen === 0}>
      {unseen > 0 && (
        <>
          <span class="visually-hidden">{words.say('pushes_unseen')}: </span>
          <bdi>{unseen < MOST_UNSEEN ? words.number(unseen) : `${words.number(MOST_UNSEEN - 1)}+`}</bdi>
        </>
      )}
    </span>
  )
}
