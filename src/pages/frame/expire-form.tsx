// The button that expires a push, ends its downloads or closes a request. Needs two presses, because this
// cannot be undone.

import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Guest } from './guest.ts'
import { PostForm, Submit } from './post-form.tsx'

type Row = { action: { href: (params: { url_token: string }) => string } } & Record<
  'title' | 'text' | 'submit',
  WordKey
>

const EXPIRE = { title: 'expire_now', text: 'expire_explained', submit: 'expire_submit' } as const
const DELETE = { title: 'delete_now', text: 'delete_explained', submit: 'delete_submit' } as const

/**
 * The forms by what they end: a push, or the downloads that are left after the last view. Owners return to
 * their page of the push.
 */
const ENDS = {
  ownPush: { ...EXPIRE, action: PAGES.expireOwn },
  sentPush: { ...EXPIRE, action: PAGES.expire },
  receivedPush: { ...DELETE, action: PAGES.expire },
  ownDownloads: {
    ...{ title: 'end_grants', text: 'end_grants_explained', submit: 'end_grants_submit' },
    action: PAGES.expireOwn,
  },
  ownAnswer: { ...DELETE, text: 'received_delete', action: PAGES.expireOwn },
  receivedDownloads: {
    ...{ title: 'end_grants', text: 'end_saved_explained', submit: 'end_saved_submit' },
    action: PAGES.expire,
  },
  request: {
    ...{ title: 'request_close', text: 'request_close_explained', submit: 'request_close' },
    action: PAGES.closeRequest,
  },
} as const satisfies Record<string, Row>

type ExpireFormProps = {
  guest: Guest
  urlToken: string
  ends: keyof typeof ENDS
  /** Protects the form on a page that people without a session see. */
  nonce?: string
}

export function ExpireForm({ guest, urlToken, ends, nonce }: ExpireFormProps) {
  const { say } = guest
  const { title, text, submit, action } = ENDS[ends]
  return (
    <details class="unprinted">
      <summary>{say(title)}</summary>
      <PostForm
        guest={guest}
        action={action.href({ url_token: urlToken })}
        hidden={nonce === undefined ? {} : { nonce }}
      >
        <p>{say(text)}</p>
        <Submit look="danger">{say(submit)}</Submit>
      </PostForm>
    </details>
  )
}
