// The account's own age key, for which answers to its requests are encrypted.

import { PAGES } from '../../http/urls.ts'
import { RefusedFields, readFields } from '../frame/fields.tsx'
import type { RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Card, Notice } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'
import { RecipientInput } from '../frame/push-fields.tsx'

type SectionProps = { guest: Member; kept: string | null; refused: RefusedForm | null }

export function AgeKeySection({ guest, kept, refused }: SectionProps) {
  const { words, say } = guest
  const { texts, field } = readFields(refused, words, { recipient: kept })
  return (
    <Card id="age-key" title={say('key_title')}>
      <p>{say('key_lead')}</p>
      <Notice kind="low">{say('key_warning')}</Notice>
      <PostForm guest={guest} action={PAGES.keepRecipient.href()} look="narrow">
        <RefusedFields problems={texts} words={words} />
        <RecipientInput {...field('recipient')} label={say('key_field')} hint={say('key_field_hint')} />
        <button type="submit">{say('key_save')}</button>
      </PostForm>
    </Card>
  )
}
