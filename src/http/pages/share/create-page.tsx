// The page with the form that creates a push: empty, or again with what was typed and what was wrong with it.

import type { PushLimits } from '../../../domain/new-push.ts'
import type { Problems } from '../../../domain/problems.ts'
import type { FormMarks } from '../../../services/pushes/form-marks.ts'
import type { AnswerHeaders } from '../../door/answers.ts'
import { PAGES } from '../../urls.ts'
import { type Guest, signInHref } from '../frame/guest.ts'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { RefusedNotice } from '../frame/parts.tsx'
import { CreateForm } from './create-form.tsx'
import { newUnseen, openerOf, type Typed, type Unseen } from './create-sender.ts'

/** Why a form is shown again. */
export type Refused = {
  typed: Typed
  status: number
  message: string
  headers?: AnswerHeaders
  problems?: Problems
  /** The form came with files, which browsers do not fill in again. */
  forgetsFiles?: boolean
  /** The push that this form has created already, to link to it. The form that is shown creates another one. */
  madeUrlToken?: string | null
  /** The form needs a new idempotency key. */
  isKeyUsed?: boolean
  /** Another person sent the form than the one who opened it. */
  isOfSomebodyElse?: boolean
}

export type CreatePageParts = {
  limits: PushLimits
  answer: AnswerGuest
  marks: FormMarks
  /** The URL of the generator's word list. */
  wordlist: string
}

export function createShowForm({ limits, answer, marks, wordlist }: CreatePageParts) {
  return (guest: Guest, refused: Refused | null = null): Response => {
    const { say } = guest.words
    const title = say('create_title')
    const isKept = refused?.isOfSomebodyElse === true
    const form = {
      unseen: unseenOf(guest, refused),
      isOfAccount: guest.session !== null || isKept,
      typed: refused?.typed ?? (() => ''),
      problems: refused?.problems ?? {},
    }
    const content = (
      <>
        <h1>{title}</h1>
        <p class="lead">{say('create_lead')}</p>
        <LocalhostNotice guest={guest} path={PAGES.create.href()} />
        {refused === null ? null : <WhyRefused guest={guest} refused={refused} />}
        <CreateForm guest={guest} limits={limits} wordlist={wordlist} {...form} />
      </>
    )
    const scripts = ['common', 'create', 'generator'] as const
    const { status = 200, headers = {} } = refused ?? {}
    return answer(content, { guest, title, status, headers, scripts: [...scripts] })
  }

  /** Keeps the idempotency key until it has created a push, so that a form that is sent again creates one push. */
  function unseenOf(guest: Guest, refused: Refused | null): Unseen {
    const fresh = newUnseen(guest, marks)
    if (refused === null) return fresh
    const { typed } = refused
    const kept = refused.isKeyUsed === true ? '' : typed('idempotency_key')
    const idempotencyKey = kept || fresh.idempotencyKey
    // Without a mark nobody knows who opened the form, so that a signed-in sender may send it as their own.
    const isSomebodys = guest.session === null || marks.read(typed('opened_by')) !== null
    const opener = refused.isOfSomebodyElse && isSomebodys ? openerOf(typed) : {}
    return { ...fresh, ...opener, idempotencyKey }
  }
}

function WhyRefused({ guest, refused }: { guest: Guest; refused: Refused }) {
  const { href, words } = guest
  const { message, forgetsFiles = false, madeUrlToken = null, isOfSomebodyElse = false } = refused
  return (
    <RefusedNotice>
      <p>{message}</p>
      {forgetsFiles ? <p data-forgotten>{words.say('files_again')}</p> : null}
      {madeUrlToken === null ? null : (
        <a href={href(PAGES.created.href({ url_token: madeUrlToken }))}>{words.say('create_made')}</a>
      )}
      {isOfSomebodyElse ? (
        <a href={href(signInHref(PAGES.create.href()))} target="_blank" rel="noopener">
          {words.say('form_sign_in')}
        </a>
      ) : null}
    </RefusedNotice>
  )
}
