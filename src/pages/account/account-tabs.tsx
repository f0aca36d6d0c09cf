// The tabs on the pages of an account: its own page, its tokens, its message.

import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'

const TABS: readonly { page: 'account' | 'tokens' | 'message'; text: WordKey }[] = [
  { page: 'account', text: 'nav_account' },
  { page: 'tokens', text: 'tokens_title' },
  { page: 'message', text: 'message_title' },
]

/** `shown` is the current page; null on a page below one of the tabs. */
export function AccountTabs({
  guest,
  shown,
}: {
  guest: Member
  shown: 'account' | 'tokens' | 'message' | null
}) {
  const { say } = guest.words
  return (
    <nav class="tabs" aria-label={say('account_title')}>
      {TABS.map(({ page, text }) => (
        <a href={guest.href(PAGES[page].href())} aria-current={page === shown ? 'page' : undefined}>
          {say(text)}
        </a>
      ))}
    </nav>
  )
}
