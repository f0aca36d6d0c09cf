// The tabs "share a secret" and "ask for a secret". The title of the page is that of its tab.

import { PAGES } from '../../http/urls.ts'
import type { Guest } from '../frame/guest.ts'
import { Tabs } from '../frame/lists.tsx'

const TABS = { create: 'create_title', requests: 'ask_title' } as const

export function AskTabs({ guest, shown }: { guest: Guest; shown: keyof typeof TABS }) {
  const { say } = guest
  const tabs = (['create', 'requests'] as const).map((page) => ({
    href: guest.href(PAGES[page].href()),
    text: say(TABS[page]),
    isShown: page === shown,
  }))
  return (
    <>
      <h1 class="visually-hidden">{say(TABS[shown])}</h1>
      <Tabs label={say('nav_create')} tabs={tabs} />
    </>
  )
}
