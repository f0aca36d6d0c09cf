// The page of a secret link, which reveals and counts nothing, and the response to its button.

import { addToOutage, DomainError, isDomainError, nullIfMissing, retrySeconds } from '../../domain/errors.ts'
import type { PageNonce } from '../../domain/page-nonce.ts'
import { isExpired, isLocked, isOwner as isOwnerOf, mayExpire, type Push } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import { answerAttachment, TEXT } from '../../http/answers.ts'
import { createTurns } from '../../http/door/turns.ts'
import { PAGES } from '../../http/urls.ts'
import type { CodeRefusal } from '../../pushes/codes.ts'
import type { PageSeals } from '../../pushes/page-seals.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import type { Retrieval } from '../../pushes/retrieval.ts'
import type { Form } from '../frame/form.ts'
import { type Guest, leadTo, type Params, requireFormToken } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { AnswerGuest, PageOptions } from '../frame/page.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { Deleted, explained, Gone, Locked, Receive, Wait } from './receive-views.tsx'
import { Revealed, sealText, type View } from './revealed.tsx'
import { SAVED_NAME } from './revealed-text.tsx'
import { createFindSender, type FindSenderOptions } from './sender.ts'

export type ReceivePageOptions = FindSenderOptions & {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'preview' | 'isAnswer' | 'checkCode' | 'retrieve' | 'expire'>
  nonces: PageSeals['nonces']
  shownTexts: PageSeals['shownTexts']
  sealingScripts: SealingScripts
  now: Now
}

type ViewOptions = {
  /** The problem with the passphrase, and with the code. */
  problem?: Children
  codeProblem?: Children
  notice?: string
  saysCost?: boolean
  status?: number
  headers?: Record<string, string>
}

export function createReceivePages(options: ReceivePageOptions) {
  const { answer, pushes, nonces, shownTexts, sealingScripts: scripts, now } = options
  const findSender = createFindSender(options)
  const inTurn = createTurns()

  const plain = (guest: Guest, options: Partial<PageOptions> = {}): PageOptions => ({
    guest,
    title: guest.say('receive_page'),
    description: guest.say('receive_preview'),
    frame: 'plain',
    script: 'receive',
    ...options,
  })

  async function findPush(urlToken: string, { viewer }: Guest): Promise<Push | null> {
    try {
      return (await pushes.preview(urlToken, viewer)).push
    } catch (cause) {
      if (isDomainError(cause, 'not_found')) return null
      throw cause
    }
  }

  function gone(guest: Guest, push: Push | null): Response {
    const title = guest.say('gone_title')
    return answer(<Gone guest={guest} push={push} />, plain(guest, { title, status: 404 }))
  }

  async function show(guest: Guest, { url_token = '' }: Params, shown: ViewOptions = {}): Promise<Response> {
    await inTurn()
    return showPush(guest, { push: await findPush(url_token, guest), urlToken: url_token }, shown)
  }

  async function showPush(
    guest: Guest,
    { push, urlToken }: { push: Push | null; urlToken: string },
    shown: ViewOptions,
  ): Promise<Response> {
    if (push === null || isExpired(push, now())) return gone(guest, push)
    const { problem, codeProblem, notice, saysCost = false, status = 200, headers = {} } = shown
    const isOwner = isOwnerOf(push, guest.viewer.account)
    if (isOwner && (await pushes.isAnswer(urlToken, guest.viewer)))
      return leadTo(guest, PAGES.push.href({ url_token: urlToken }))
    if (isLocked(push)) {
      const locked = <Locked guest={guest} push={push} urlToken={urlToken} isOwner={isOwner} />
      return answer(locked, plain(guest, { title: guest.say('locked_title'), status, headers }))
    }
    const content = (
      <>
        <Receive
          {...{ guest, push, urlToken, problem, codeProblem, notice, saysCost, isOwner, scripts }}
          sender={await findSender(push)}
          nonce={nonces.issue(urlToken)}
        />
        {!isOwner && explained(guest.words)}
      </>
    )
    return answer(content, plain(guest, { status, headers }))
  }

  /**
   * Opens the push once for each page that was shown. Any further press shows the page again and counts
   * nothing.
   */
  async function reveal(guest: Guest, form: Form, params: Params): Promise<Response> {
    const { url_token = '' } = params
    const { say } = guest
    const { session } = guest
    // The form was opened while signed in, perhaps by the owner, whose view would not have counted.
    const isSignedOut = session === null && form.text('form') !== ''
    const isOwnForm = session === null ? !isSignedOut : session.isFormToken(form.text('form'))
    const press = { text: form.text('nonce'), subject: url_token }
    const revealed = isOwnForm
      ? await nonces.press(press, (nonce) => open(guest, form, { params, nonce }))
      : 'stale'
    if (revealed instanceof Response) return revealed
    if (revealed === 'stale') {
      const notice = say(isSignedOut ? 'receive_signed_out' : 'receive_stale')
      return show(guest, params, { notice, status: 409 })
    }
    // It is not known here whether the earlier press used up a view.
    return show(guest, params, { notice: say('receive_used'), saysCost: true, status: 409 }).catch(
      (cause) => {
        throw addToOutage(cause, { isInDoubt: true })
      },
    )
  }

  type Press = { params: Params; nonce: PageNonce }

  async function open(guest: Guest, form: Form, { params, nonce }: Press): Promise<Response> {
    const { url_token = '' } = params
    const refusal = await pushes.checkCode(url_token, form.text('code'), guest.viewer).catch(nullIfMissing)
    if (refusal !== null) return presentRefusedCode(guest, params, refusal)
    const passphrase = form.text('passphrase') || null
    const { makeRoom } = guest.exchange
    const retrieval = await pushes
      .retrieve(url_token, { passphrase, viewer: guest.viewer, ownLook: true, nonce, makeRoom })
      .catch(nullIfMissing)
    return retrieval === null ? gone(guest, null) : present(guest, params, retrieval)
  }

  function presentRefusedCode(guest: Guest, params: Params, refusal: CodeRefusal): Promise<Response> {
    if (refusal.problem !== 'locked') {
      const codeProblem = guest.say(refusal.problem === 'wrong' ? 'push_code_wrong' : 'push_code_missing')
      return show(guest, params, { codeProblem, status: 422 })
    }
    const seconds = retrySeconds(refusal.lockedFor)
    const codeProblem = <Wait guest={guest} seconds={seconds} words="push_code_locked" />
    return show(guest, params, { codeProblem, status: 429, headers: { 'retry-after': String(seconds) } })
  }

  function present(guest: Guest, params: Params, retrieval: Retrieval): Response | Promise<Response> {
    const { say } = guest
    switch (retrieval.outcome) {
      case 'expired':
        return gone(guest, retrieval.push)
      case 'passphrase_required':
        return show(guest, params, { problem: say('passphrase_missing'), status: 422 })
      case 'wrong_passphrase':
        return showPush(guest, retrieval, { problem: say('passphrase_wrong'), status: 422 })
      case 'locked':
        return showPush(guest, retrieval, { status: 429, headers: { 'retry-after': '60' } })
      case 'passphrase_locked': {
        const seconds = retrySeconds(retrieval.lockedFor)
        const headers = { 'retry-after': String(seconds) }
        return show(guest, params, {
          problem: <Wait guest={guest} seconds={seconds} />,
          status: 429,
          headers,
        })
      }
      case 'view':
        return answerRevealed(guest, retrieval)
    }
  }

  function answerRevealed(guest: Guest, retrieval: View): Response {
    const { push, urlToken } = retrieval
    const isLeft = !isExpired(push, now()) || retrieval.files.length > 0
    const canDelete = isLeft && mayExpire(push, guest.viewer.account)
    const content = (
      <Revealed
        guest={guest}
        retrieval={retrieval}
        sealedText={guest.exchange.isOutside ? null : sealText(retrieval, shownTexts)}
        expireNonce={canDelete ? nonces.issue(`expire/${urlToken}`) : null}
        scripts={scripts}
      />
    )
    return answer(content, plain(guest, { title: guest.say('revealed_title'), languageSwitch: false }))
  }

  async function expire(guest: Guest, form: Form, { url_token = '' }: Params): Promise<Response> {
    requireFormToken(guest, form.text('form'))
    const press = { text: form.text('nonce'), subject: `expire/${url_token}` }
    // Expiring is idempotent, so a second press does no harm.
    const expired = await nonces.press(press, () => pushes.expire(url_token, guest.viewer))
    if (expired === 'used' || expired === 'stale')
      return show(guest, { url_token }, { notice: guest.say('receive_stale'), status: 409 })
    const title = guest.say('expired_title')
    return answer(<Deleted words={guest.words} />, plain(guest, { title, languageSwitch: false }))
  }

  function saveText(form: Form): Response {
    const text = shownTexts.open(form.text('text'))
    if (text === null) throw new DomainError('forbidden', 'This server has not shown this text.')
    return answerAttachment(text, { type: TEXT, filename: SAVED_NAME })
  }

  return { show, reveal, expire, saveText }
}
