// The page of one form in a card, and how it is shown again when the form was refused.

import { isDomainError } from '../../domain/errors.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { AnswerGuest, PageOptions } from '../frame/page.tsx'
import { Notice } from '../frame/parts.tsx'

/** Options for showing a refused form again. */
export type FormRefusal = { status?: number; notice?: string; headers?: Record<string, string> }

type FormPage = Pick<PageOptions, 'guest' | 'title' | 'script' | 'languageSwitch'> & FormRefusal

export function answerForm(answer: AnswerGuest, { notice, ...page }: FormPage, children: Children): Response {
  const content = (
    <div class="card">
      <h1>{page.title}</h1>
      {notice && <Notice kind="refused">{notice}</Notice>}
      {children}
    </div>
  )
  return answer(content, { ...page, width: 'card-width' })
}

/** Resolves to `too_many` instead of throwing that refusal. */
export function orTooMany<T>(tried: Promise<T>): Promise<T | 'too_many'> {
  return tried.catch((cause) => {
    if (isDomainError(cause, 'too_many')) return 'too_many' as const
    throw cause
  })
}

/** Returns the status and the notice of a form after too many tries. */
export function tooMany({ words }: Guest) {
  return { status: 429, notice: words.say('sign_in_too_many'), headers: { 'retry-after': '60' } }
}
