// The page of a secret link, which shows and counts nothing, and the answer to its button.

import { isDomainError, retrySeconds } from '../../../domain/errors.ts'
import { isEndedByTries, isExpired, isLocked, isOwner, mayExpire, type Push } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { PageNonces } from '../../../services/pushes/page-nonces.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import type { Retrieval } from '../../../services/pushes/retrieval.ts'
import { PAGES } from '../../urls.ts'
import type { Form } from '../frame/form.ts'
import { type Guest, requireFormToken } from '../frame/guest.ts'
import type { AnswerGuest, PageOptions } from '../frame/page.tsx'
import { Notice } from '../frame/parts.tsx'
import { ReceiveForm } from './receive-form.tsx'
import { Revealed } from './revealed.tsx'

export type ReceivePageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'preview' | 'retrieve' | 'expire'>
  nonces: PageNonces
  now: Now
}

type Params = Partial<Record<string, string>>
type Shown = { problem?: string; notice?: string; status?: number; headers?: Record<string, string> }

export function createReceivePages({ answer, pushes, nonces, now }: ReceivePageOptions) {
  const plain = (guest: Guest, options: Partial<PageOptions> = {}): PageOptions => ({
    guest,
    title: guest.words.say('receive_page'),
    frame: 'plain',
    scripts: ['common', 'receive'],
    ...options,
  })

  async function findPush(urlToken: string): Promise<Push | null> {
    try {
      return (await pushes.preview(urlToken)).push
    } catch (cause) {
      if (isDomainError(cause, 'not_found')) return null
      throw cause
    }
  }

  /** A push that never existed, was purged or has expired looks the same, unless wrong passphrases ended it. */
  function gone(guest: Guest, push: Push | null): Response {
    const { say } = guest.words
    const content = (
      <>
        <h1>{say('gone_title')}</h1>
        <p>{say(push !== null && isEndedByTries(push) ? 'gone_tries' : 'gone_text')}</p>
      </>
    )
    return answer(content, plain(guest, { status: 404 }))
  }

  async function show(guest: Guest, { url_token = '' }: Params, shown: Shown = {}): Promise<Response> {
    const push = await findPush(url_token)
    if (push === null || isExpired(push, now())) return gone(guest, push)
    const { problem, notice, status = 200, headers = {} } = shown
    const own = isOwner(push, guest.viewer.account)
    if (isLocked(push)) {
      const locked = <Locked guest={guest} push={push} urlToken={url_token} isOwner={own} />
      return answer(locked, plain(guest, { status, headers }))
    }
    const content = (
      <>
        <h1>{guest.words.say('receive_title')}</h1>
        {notice === undefined ? null : (
          <Notice kind="plain">
            <p>{notice}</p>
          </Notice>
        )}
        <ReceiveForm
          guest={guest}
          push={push}
          urlToken={url_token}
          nonce={nonces.issue(url_token)}
          problem={problem}
          isOwner={own}
          isAgain={notice !== undefined}
        />
      </>
    )
    return answer(content, plain(guest, { status, headers }))
  }

  /** Opens the push once for each page that was shown. Any other request gets the page again, and counts nothing. */
  async function reveal(guest: Guest, form: Form, params: Params): Promise<Response> {
    const { url_token = '' } = params
    const { say } = guest.words
    const { session } = guest
    // The form was opened signed in, perhaps by the owner, whose look would not have counted.
    const isSignedOut = session === null && form.text('form') !== ''
    const isOwnForm = session === null ? !isSignedOut : session.isFormToken(form.text('form'))
    const state = isOwnForm ? nonces.use(form.text('nonce'), url_token) : 'stale'
    if (state !== 'good') {
      const stale = isSignedOut ? 'receive_signed_out' : 'receive_stale'
      const notice = say(state === 'used' ? 'receive_used' : stale)
      return show(guest, params, { notice, status: 409 })
    }
    const passphrase = form.text('passphrase') || null
    const retrieval = await pushes
      .retrieve(url_token, { passphrase, viewer: guest.viewer, ownLook: true })
      .catch((cause) => {
        if (isDomainError(cause, 'not_found')) return null
        throw cause
      })
    return retrieval === null ? gone(guest, null) : present(guest, params, retrieval)
  }

  function present(guest: Guest, params: Params, retrieval: Retrieval): Response | Promise<Response> {
    const { say } = guest.words
    switch (retrieval.outcome) {
      case 'expired':
        return gone(guest, retrieval.push)
      case 'passphrase_required':
        return show(guest, params, { problem: say('passphrase_missing'), status: 422 })
      case 'wrong_passphrase':
        return show(guest, params, { problem: say('passphrase_wrong'), status: 422 })
      case 'locked':
        return show(guest, params, { status: 429, headers: { 'retry-after': '60' } })
      case 'passphrase_locked': {
        const seconds = retrySeconds(retrieval.lockedFor)
        const headers = { 'retry-after': String(seconds) }
        return show(guest, params, {
          problem: say('passphrase_locked', { n: seconds }),
          status: 429,
          headers,
        })
      }
      case 'view':
        return answerRevealed(guest, retrieval)
    }
  }

  function answerRevealed(guest: Guest, retrieval: Extract<Retrieval, { outcome: 'view' }>): Response {
    const { push, urlToken } = retrieval
    const isLeft = !isExpired(push, now()) || retrieval.files.length > 0
    const canDelete = isLeft && mayExpire(push, guest.viewer.account)
    const content = (
      <Revealed
        guest={guest}
        retrieval={retrieval}
        expireNonce={canDelete ? nonces.issue(`expire/${urlToken}`) : null}
      />
    )
    return answer(content, plain(guest, { languageSwitch: false }))
  }

  async function expire(guest: Guest, form: Form, { url_token = '' }: Params): Promise<Response> {
    requireFormToken(guest, form.text('form'))
    const state = nonces.use(form.text('nonce'), `expire/${url_token}`)
    if (state !== 'good')
      return show(guest, { url_token }, { notice: guest.words.say('receive_stale'), status: 409 })
    await pushes.expire(url_token, guest.viewer)
    const { say } = guest.words
    const content = (
      <>
        <h1>{say('expired_title')}</h1>
        <p>{say('expired_text')}</p>
      </>
    )
    return answer(content, plain(guest, { languageSwitch: false }))
  }

  return { show, reveal, expire }
}

type LockedProps = { guest: Guest; push: Push; urlToken: string; isOwner: boolean }

/** Shown in place of the form after too many wrong passphrases. */
function Locked({ guest, push, urlToken, isOwner }: LockedProps) {
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
