// The account's own age key, for which answers to its requests are encrypted.

import { isDomainError } from '../../domain/errors.ts'
import { answerSeeOther } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import type { OwnRecipient } from '../../requests/own-recipient.ts'
import { RecipientInput, RefusedFields } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Card, Notice } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'

export type AgeKeyOptions = {
  ownRecipient: OwnRecipient
  showAccount: (guest: Member, shown: { refusedKey: string; status: number }) => Promise<Response>
}

export function createKeepRecipient({ ownRecipient, showAccount }: AgeKeyOptions) {
  return async (guest: Member, form: Form): Promise<Response> => {
    const typed = form.text('recipient')
    try {
      await ownRecipient.keep(guest.account, typed)
    } catch (cause) {
      if (!isDomainError(cause, 'invalid')) throw cause
      return showAccount(guest, { refusedKey: typed, status: 422 })
    }
    return answerSeeOther(guest.href(`${PAGES.account.href()}?done=key#age-key`))
  }
}

type SectionProps = {
  guest: Member
  kept: string | null /** What was typed and is no key. */
  refused: string | undefined
}

export function AgeKeySection({ guest, kept, refused }: SectionProps) {
  const { words } = guest
  const { say } = words
  const problem = refused === undefined ? undefined : say('problem_not_recipient')
  return (
    <Card id="age-key" title={say('key_title')}>
      <p>{say('key_lead')}</p>
      <Notice kind="low">{say('key_warning')}</Notice>
      <PostForm guest={guest} action={PAGES.keepRecipient.href()} look="narrow">
        <RefusedFields problems={{ recipient: problem }} words={words} />
        <RecipientInput
          id="recipient"
          name="recipient"
          label={say('key_field')}
          hint={say('key_field_hint')}
          problem={problem}
          value={refused ?? kept ?? ''}
        />
        <button type="submit">{say('key_save')}</button>
      </PostForm>
    </Card>
  )
}
