// The button with which an owner expires a push or closes a request, and a recipient deletes a push. After a
// last view it ends the remaining downloads. It needs two presses, because this cannot be undone.

import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { PostForm, Submit } from '../frame/post-form.tsx'

const WORDS = {
  push: { title: 'expire_now', text: 'expire_explained', submit: 'expire_submit' },
  received: { title: 'delete_now', text: 'delete_explained', submit: 'delete_submit' },
  grants: { title: 'end_grants', text: 'end_grants_explained', submit: 'end_grants_submit' },
  saved: { title: 'end_grants', text: 'end_saved_explained', submit: 'end_saved_submit' },
  request: { title: 'request_close', text: 'request_close_explained', submit: 'request_close' },
} as const satisfies Record<string, Record<string, WordKey>>

type ExpireFormProps = {
  guest: Guest
  urlToken: string
  /** Of a page for anybody but the owner, whose session guards the form. */
  nonce?: string
  /**
   * Afterwards an owner gets the page of the push, and anybody else a page that says that the push is gone.
   */
  isOwner: boolean
  /**
   * `received` is a live push in the words for its recipient. An expired one, whose last view left downloads,
   * is `grants` for its owner and `saved` for that recipient. `request` is one that its owner closes.
   */
  ends: keyof typeof WORDS
}

export function ExpireForm({ guest, urlToken, nonce, isOwner, ends }: ExpireFormProps) {
  const { say } = guest
  const words = WORDS[ends]
  const ofOwner = ends === 'request' ? PAGES.closeRequest : PAGES.expireOwn
  const page = isOwner ? ofOwner : PAGES.expire
  return (
    <details class="unprinted">
      <summary>{say(words.title)}</summary>
      <PostForm
        guest={guest}
        action={page.href({ url_token: urlToken })}
        hidden={nonce === undefined ? {} : { nonce }}
      >
        <p>{say(words.text)}</p>
        <Submit look="danger">{say(words.submit)}</Submit>
      </PostForm>
    </details>
  )
}
