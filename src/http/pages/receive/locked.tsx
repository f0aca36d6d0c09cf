// What a secret link shows while it is locked after too many wrong passphrases.

import type { Push } from '../../../domain/push.ts'
import { PAGES } from '../../urls.ts'
import type { Guest } from '../frame/guest.ts'

export type LockedProps = { guest: Guest; push: Push; urlToken: string; isOwner: boolean }

export function Locked({ guest, push, urlToken, isOwner }: LockedProps) {
  const { say, moment } = guest.words
  const text = push.ownerId === null ? 'locked_for_good' : isOwner ? 'locked_owner' : 'locked_text'
  return (
    <>
      <h1>{say('locked_title')}</h1>
      <p>{say(text, { when: moment(push.expiresAt) })}</p>
      {isOwner ? (
        <p>
          <a href={guest.href(PAGES.push.href({ url_token: urlToken }))}>{say('locked_go')}</a>
        </p>
      ) : null}
    </>
  )
}
