// The tabs of an account's pages: account, tokens, message, webhooks.

import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Tabs } from '../frame/lists.tsx'

const TABS = {
  ...{ account: 'nav_account', tokens: 'tokens_title', message: 'created_message' },
  webhooks: 'webhooks_title',
} as const satisfies Record<string, WordKey>

const PAGES_WITH_TAB = ['account', 'tokens', 'message', 'webhooks'] as const

/** `current` is the current tab; null on a page below a tab. */
export function AccountTabs({ guest, current }: { guest: Member; current: keyof typeof TABS | null }) {
  const { say } = guest
  const tabs = PAGES_WITH_TAB.filter((page) => page !== 'webhooks' || guest.hasWebhooks).map((page) => ({
    href: guest.href(PAGES[page].href()),
    text: say(TABS[page]),
    isShown: page === current,
  }))
  return <Tabs label={say('account_title')} tabs={tabs} />
}
