// The page where an account edits its own message for secret links, with a preview.

import type { AccountPreferences } from '../../accounts/preferences.ts'
import { fillMessage, MAX_MESSAGE_CHARACTERS } from '../../domain/message-template.ts'
import { DAY, type Now } from '../../domain/time.ts'
import { PAGES, secretLink } from '../../http/urls.ts'
import { type FieldOf, maxLengthOf, readFields, TextArea } from '../frame/fields.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Notice } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import { standardTemplate } from '../share/message.ts'
import { AccountTabs } from './account-tabs.tsx'

export type MessagePageOptions = { answer: AnswerGuest; preferences: AccountPreferences; now: Now }

/** The push with which the preview fills in the template. */
const EXAMPLE = { push: { retrievalStep: true }, urlToken: 'k3m9qx2vwd7t0e5s8hnb4rjz6p' }

export function createMessagePages({ answer, preferences, now }: MessagePageOptions) {
  async function show(guest: Member, refused: RefusedForm | null = null): Promise<Response> {
    const { words, query } = guest
    const kept = await preferences.findTemplate(guest.account)
    const { field } = readFields(refused, words, { message: kept ?? standardTemplate(words) })
    const message = field('message')
    const title = words.say('message_title')
    const content = (
      <>
        <h1>{title}</h1>
        <p class="lead">{words.say('message_lead')}</p>
        <AccountTabs guest={guest} current="message" />
        {query.get('done') === 'saved' && <Notice kind="good">{words.say('message_saved')}</Notice>}
        <TemplateForm guest={guest} field={message} />
        <Preview guest={guest} template={message.value} now={now()} />
        {kept !== null && (
          <ButtonForm
            guest={guest}
            action={PAGES.keepMessage.href()}
            hidden={{ message: '' }}
            label={words.say('message_standard')}
          />
        )}
      </>
    )
    return answer(content, { guest, title, status: refused === null ? 200 : 422, script: 'handover' })
  }

  async function keep(guest: Member, form: Form): Promise<Response> {
    try {
      await preferences.keepTemplate(guest.account, form.text('message'))
    } catch (cause) {
      return show(guest, { form, problems: problemsIn(cause) })
    }
    return leadTo(guest, `${PAGES.message.href()}?done=saved`)
  }

  return { show: (guest: Member) => show(guest), keep }
}

function TemplateForm({ guest, field }: { guest: Member; field: ReturnType<FieldOf> }) {
  const { say } = guest
  return (
    <PostForm guest={guest} action={PAGES.keepMessage.href()}>
      <TextArea
        {...field}
        label={say('message_field')}
        hint={say('message_places')}
        attributes={{
          ...{ rows: 8, required: true, maxlength: maxLengthOf(MAX_MESSAGE_CHARACTERS) },
          autocomplete: 'off',
        }}
      />
      <Submit>{say('message_save')}</Submit>
    </PostForm>
  )
}

/** Updated by a script on every keystroke. */
function Preview({ guest, template, now }: { guest: Member; template: string; now: number }) {
  const { words, exchange } = guest
  const facts = {
    link: secretLink(EXAMPLE, exchange.baseUrl),
    expires: words.moment(now + 7 * DAY),
    views: words.say('views', { n: 5 }),
    name: 'Anna',
  }
  return (
    <section aria-labelledby="preview-title">
      <h2 id="preview-title">{words.say('message_preview')}</h2>
      <pre
        class="prose"
        dir="auto"
        data-previews="message"
        data-link={facts.link}
        data-expires={facts.expires}
        data-views={facts.views}
        data-name={facts.name}
      >
        {`\n${fillMessage(template, facts)}`}
      </pre>
    </section>
  )
}
