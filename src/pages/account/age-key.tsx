// The account's own age key, for which answers to its requests are encrypted.

import type { Problems } from '../../domain/problems.ts'
import { PAGES } from '../../http/urls.ts'
import { problemTexts, RefusedFields } from '../frame/fields.tsx'
import type { Member } from '../frame/guest.ts'
import { Card, Notice } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'
import { RecipientInput } from '../frame/push-fields.tsx'

type SectionProps = { guest: Member; value: string; problems: Problems }

export function AgeKeySection({ guest, value, problems }: SectionProps) {
  const { words } = guest
  const { say } = words
  const texts = problemTexts(problems, words)
  return (
    <Card id="age-key" title={say('key_title')}>
      <p>{say('key_lead')}</p>
      <Notice kind="low">{say('key_warning')}</Notice>
      <PostForm guest={guest} action={PAGES.keepRecipient.href()} look="narrow">
        <RefusedFields problems={texts} words={words} />
        <RecipientInput
          id="recipient"
          name="recipient"
          label={say('key_field')}
          hint={say('key_field_hint')}
          problem={texts.recipient}
          value={value}
        />
        <button type="submit">{say('key_save')}</button>
      </PostForm>
    </Card>
  )
}
