// The tabs of an account's pages: account, tokens, message, notices.

import { PAGES } from '../../http/urls.ts'
import type { Member } from '../frame/guest.ts'
import { Tabs } from '../frame/lists.tsx'

const TABS = [
  ['account', 'nav_account'],
  ['tokens', 'tokens_title'],
  ['message', 'created_message'],
  ['notices', 'notices_title'],
] as const

/** `current` is the current tab; null on a page below a tab. */
export function AccountTabs({ guest, current }: { guest: Member; current: (typeof TABS)[number][0] | null }) {
  const tabs = TABS.filter(([page]) => page !== 'notices' || guest.hasNotices).map(([page, title]) => ({
    href: guest.href(PAGES[page].href()),
    text: guest.say(title),
    isShown: page === current,
  }))
  return <Tabs label={guest.say('account_title')} tabs={tabs} />
}
