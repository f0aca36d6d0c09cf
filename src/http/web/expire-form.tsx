// The button that expires a push at once: behind a first press, because there is no way back.

import type { Guest } from './guest.ts'
import { FormToken } from './parts.tsx'

type ExpireFormProps = { guest: Guest; urlToken: string; nonce: string }

export function ExpireForm({ guest, urlToken, nonce }: ExpireFormProps) {
  const { say } = guest.words
  return (
    <details class="unprinted">
      <summary>{say('expire_now')}</summary>
      <form method="post" action={guest.href(`/p/${urlToken}/expire`)}>
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
