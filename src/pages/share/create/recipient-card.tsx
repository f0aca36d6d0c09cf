// The page of a link as its recipient will see it, beside the create form. The form's script requests it with
// the limits only: no content, name or passphrase.

import { DURATIONS, type PushLimits } from '../../../domain/new-push.ts'
import type { Push } from '../../../domain/push.ts'
import { DAY, MINUTE } from '../../../domain/time.ts'
import type { Words } from '../../../words/words.ts'
import type { Guest } from '../../frame/guest.ts'
import { Receive } from '../../receive/receive-views.tsx'
import { readLimits } from './create-reader.ts'

/** An empty place for the card. The script fills it if there is room. */
export function BesideForm({ words: { say } }: { words: Words }) {
  return (
    <aside class="half" hidden inert data-card={say('created_preview_named')}>
      <p class="hint">{say('created_preview')}</p>
      <div />
    </aside>
  )
}

export function RecipientCard({ guest, limits, now }: { guest: Guest; limits: PushLimits; now: number }) {
  const { query, exchange } = guest
  const is = (name: string) => query.get(name) === 'true'
  const { wire, duration } = readLimits(Object.fromEntries(query))
  const days = numberOf(wire.expire_after_days, limits.days.default)
  const lifetime = duration ?? DURATIONS[numberOf(wire.expire_after_duration, -1)] ?? days * DAY
  const views = numberOf(wire.expire_after_views, limits.views.default)
  const push: Push = {
    ...UNOPENED,
    ...{ createdAt: now, updatedAt: now, retrievalStep: is('retrieval_step') },
    expiresAt: now + Math.max(MINUTE, Math.min(lifetime, limits.days.max * DAY)),
    expireAfterViews: Math.max(1, Math.min(views, limits.views.max)),
    passphraseRequired: is('passphrase'),
    encryptedBy: is('end_to_end') ? 'sender' : null,
  }
  const host = URL.parse(exchange.linkBase)?.host ?? exchange.host
  return (
    <Receive
      {...{ push, urlToken: '', nonce: '', notice: undefined, scripts: null }}
      guest={{ ...guest, session: null, exchange: { ...exchange, host } }}
      sender={is('shows_sender') && limits.showSender ? (guest.viewer.account?.email ?? null) : null}
    />
  )
}

function numberOf(given: unknown, preset: number): number {
  return typeof given === 'string' && /^\d{1,7}$/.test(given) ? Number(given) : preset
}

const UNOPENED = {
  ...{
    kind: 'text' as const,
    ownerId: null,
    expireAfterDays: 0,
    views: 0,
    lastViewedAt: 0,
    deletableByViewer: false,
  },
  ...{ showsSender: false, keyCheck: null, triesSpent: false, expiredOn: null, deleted: false, lost: false },
  ...{ isNew: false, codeRequired: false, wrongTries: 0, wrongTriesSince: 0, wrongTriesInAll: 0 },
}
