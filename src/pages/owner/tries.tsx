// Tells the owner of a push what too many wrong passphrases led to, and unlocks it.

import { isEndedByTries, isLocked } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { Member } from '../frame/guest.ts'
import { Notice } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

type TriesProps = { guest: Member; listed: Labelled; isLive: boolean }

export function Tries({ guest, listed: { push, urlToken }, isLive }: TriesProps) {
  const { say } = guest.words
  if (isLive && isLocked(push)) {
    return (
      <Notice kind="bad">
        <p>{say('push_locked')}</p>
        <ButtonForm
          guest={guest}
          action={PAGES.unlock.href({ url_token: urlToken })}
          label={say('unlock_submit')}
          look="primary"
        />
      </Notice>
    )
  }
  if (isEndedByTries(push)) return <Notice kind="bad">{say('push_ended_by_tries')}</Notice>
  return (
    isLive && guest.query.get('done') === 'unlocked' && <Notice kind="good">{say('push_unlocked')}</Notice>
  )
}
