// The clock of the machine on the administration page: shown while it is in doubt, with the button that confirms it.

import type { Doubt } from '../../domain/clock.ts'
import { PAGES } from '../../http/urls.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { Moment, Notice } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

export function ClockNotice({ guest, doubt }: { guest: Member; doubt: Doubt | null }) {
  const { words, say } = guest
  return doubt === null ? null : (
    <Notice kind="bad">
      <p>
        <strong>{say('clock_doubt')}</strong>
      </p>
      <Facts
        of={[
          [say('clock_said'), <Moment at={doubt.said} words={words} />],
          [say('clock_expected'), <Moment at={doubt.expected} words={words} />],
        ]}
      />
      <p>{say('clock_meaning')}</p>
      <ButtonForm guest={guest} action={PAGES.acceptClock.href()} label={say('clock_accept')} look="danger" />
    </Notice>
  )
}

/** Confirms the clock durably. */
export type AcceptClock = (by: { accountId: number }) => Promise<void>

/** Handles the button. Pushes that have ended by this clock are destroyed from then on. */
export function createAcceptClock(acceptClock: AcceptClock) {
  return async (guest: Member): Promise<Response> => {
    await acceptClock({ accountId: guest.account.id })
    return leadTo(guest, PAGES.admin.href())
  }
}
