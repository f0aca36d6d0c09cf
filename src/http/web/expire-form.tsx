// The button that expires a push at once: behind a first press, because there is no way back.

import type { Guest } from './guest.ts'
import { FormToken } from './parts.tsx'

type ExpireFormProps = {
  guest: Guest
  urlToken: string
  nonce: string
  /** An owner goes on to the push in their lists; anybody else to a page that says that it is gone. */
  isOwner: boolean
}

export function ExpireForm({ guest, urlToken, nonce, isOwner }: ExpireFormProps) {
  const { say } = guest.words
  return (
    <details class="unprinted">
      <summary>{say('expire_now')}</summary>
      <form method="post" action={guest.href(`/${isOwner ? 'pushes' : 'p'}/${urlToken}/expire`)}>
        <FormToken guest={guest} />
        <input type="hidden" name="nonce" value={nonce} />
        <p>{say('expire_explained')}</p>
        <button type="submit" class="danger">
          {say('expire_submit')}
        </button>
      </form>
    </details>
  )
}
