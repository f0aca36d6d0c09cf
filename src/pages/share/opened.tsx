// Whether a push was opened, for its sender. A script asks again every few seconds while somebody looks at the page.

import { isUsedUp } from '../../domain/listing.ts'
import type { Push } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { PageSeals } from '../../pushes/page-seals.ts'
import { senderMarkIn } from '../frame/cookies.ts'
import type { Guest } from '../frame/guest.ts'
import { Chip, sayWhen } from '../frame/parts.tsx'

/** The query parameter with the mark, for a script that sends no cookies: its questions must not keep a session alive. */
const MARK = 'sender'

/** Whether this browser has created the push, and none since. */
export function isSender(guest: Guest, urlToken: string, marks: PageSeals['senders']): boolean {
  const mark = guest.query.get(MARK) ?? senderMarkIn(guest)
  return mark !== null && marks.isOf(mark, urlToken)
}

type Props = { guest: Guest; push: Push; urlToken: string; mark: string; now: number }

export function Opened({ guest, push, urlToken, mark, now }: Props) {
  const { words } = guest
  const page = guest.href(PAGES.created.href({ url_token: urlToken }))
  const ask = new URLSearchParams({ [MARK]: mark, locale: words.language })
  return (
    <p class="opened">
      <span role="status" id="opened" data-asks-again={`${page.split('?')[0]}?${ask}`}>
        <Chip tone={push.views > 0 ? 'good' : 'waiting'} icon={push.views > 0 ? 'check' : 'clock'}>
          <span>{whatBecame(push, { words, now })}</span>
        </Chip>
        {push.views > 0 && !isUsedUp(push) && (
          <span class="hint">{words.say('row_views', { opened: push.views, n: push.expireAfterViews })}</span>
        )}
      </span>
      <a href={page} data-without-script>
        {words.say('created_look')}
      </a>
    </p>
  )
}

export function whatBecame(push: Push, seen: Parameters<typeof sayWhen>[2]) {
  if (push.views === 0) return seen.words.say('created_waiting')
  return sayWhen(isUsedUp(push) ? 'state_used' : 'created_opened', push.lastViewedAt, seen)
}
