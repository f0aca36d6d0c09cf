// Asks for a link to choose a new password. The answer is the same whether there is such an account or not.

import type { AccountLinks } from '../../accounts/account-links.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { PAGES } from '../../http/urls.ts'
import { Contact } from '../frame/brand.tsx'
import type { Form } from '../frame/form.ts'
import type { Guest } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { EmblemCard, Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { EmailInput } from './account-fields.tsx'
import { orTooMany, tooMany } from './sign-in.tsx'

export type ForgotPageOptions = {
  answer: AnswerGuest
  accountLinks: Pick<AccountLinks, 'sendReset'>
  limits: Pick<PushLimits, 'mail'>
}

type Shown = { email?: string; status?: number; notice?: string; headers?: Record<string, string> }

export function createForgotPages({ answer, accountLinks, limits }: ForgotPageOptions) {
  function show(guest: Guest, { email = '', status = 200, notice, headers = {} }: Shown = {}): Response {
    if (!limits.mail) throw new DomainError('not_found', 'not-found')
    const { words } = guest
    const title = words.say('forgot_title')
    const content = (
      <div class="card">
        <h1>{title}</h1>
        {notice && <Notice kind="refused">{notice}</Notice>}
        <p class="lead">{words.say('forgot_lead')}</p>
        <PostForm guest={guest} action={PAGES.submitForgot.href()}>
          <EmailInput
            words={words}
            value={email}
            attributes={{ autocomplete: 'username', required: true, autofocus: true }}
          />
          <Submit>{words.say('forgot_submit')}</Submit>
        </PostForm>
      </div>
    )
    return answer(content, { guest, title, status, headers, width: 'card-width' })
  }

  async function send(guest: Guest, form: Form): Promise<Response> {
    const email = form.text('email')
    const { visit } = guest.viewer
    const asked = { email, visit, language: guest.words.language }
    const sent = await orTooMany(accountLinks.sendReset(asked))
    if (sent === 'too_many') return show(guest, { email, ...tooMany(guest) })
    const { say } = guest.words
    const title = say('forgot_sent_title')
    const content = (
      <EmblemCard icon="mail" tone="good" title={title}>
        <p>{say('forgot_sent')}</p>
        <Contact guest={guest} />
      </EmblemCard>
    )
    return answer(content, { guest, title, width: 'narrow' })
  }

  return { show: (guest: Guest) => show(guest), send }
}
