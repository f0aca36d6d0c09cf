// The page where an account edits its own messages, for secret links and for requests, with a preview.

import type { AccountPreferences, MessageUse } from '../../accounts/preferences.ts'
import { fillMessage, MAX_MESSAGE_CHARACTERS } from '../../domain/message-template.ts'
import { DAY, type Now } from '../../domain/time.ts'
import { PAGES, requestLink, secretLink } from '../../http/urls.ts'
import { type FieldOf, maxLengthOf, readFields, TextArea } from '../frame/fields.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Tabs } from '../frame/lists.tsx'
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
    const use = useOf(refused?.form.text('for') ?? query.get('for'))
    const kept = await preferences.findTemplate(guest.account, use)
    const standard = standardTemplate(words, STANDARD[use])
    const { field } = readFields(refused, words, { message: kept ?? standard })
    const message = field('message')
    const title = words.say('message_title')
    const content = (
      <>
        <h1>{title}</h1>
        <p class="lead">{words.say('message_lead')}</p>
        <AccountTabs guest={guest} current="message" />
        <Tabs label={title} tabs={usesOf(guest, use)} />
        {query.get('done') === 'saved' && <Notice kind="good">{words.say('message_saved')}</Notice>}
        <TemplateForm guest={guest} field={message} use={use} />
        <Preview guest={guest} template={message.value} use={use} now={now()} />
        {kept !== null && (
          <ButtonForm
            guest={guest}
            action={PAGES.keepMessage.href()}
            hidden={{ message: '', for: use }}
            label={words.say('message_standard')}
          />
        )}
      </>
    )
    return answer(content, { guest, title, status: refused === null ? 200 : 422, script: 'handover' })
  }

  async function keep(guest: Member, form: Form): Promise<Response> {
    const use = useOf(form.text('for'))
    try {
      await preferences.keepTemplate(guest.account, form.text('message'), use)
    } catch (cause) {
      return show(guest, { form, problems: problemsIn(cause) })
    }
    return leadTo(guest, `${hrefOf(use)}${use === 'ask' ? '&' : '?'}done=saved`)
  }

  return { show: (guest: Member) => show(guest), keep }
}

const STANDARD = { share: 'message', ask: 'request_message' } as const

function useOf(given: string | null): MessageUse {
  return given === 'ask' ? 'ask' : 'share'
}

function hrefOf(use: MessageUse): string {
  return use === 'ask' ? `${PAGES.message.href()}?for=ask` : PAGES.message.href()
}

function usesOf({ href, say }: Member, shown: MessageUse) {
  const text = { share: say('nav_create'), ask: say('nav_requests') }
  return (['share', 'ask'] as const).map((use) => ({
    ...{ href: href(hrefOf(use)), text: text[use], isShown: use === shown },
  }))
}

/** A script shows the buttons, which insert a placeholder at the caret. */
function TemplateForm({ guest, field, use }: { guest: Member; field: ReturnType<FieldOf>; use: MessageUse }) {
  const { say } = guest
  // The other parts are placeholders in braces.
  const hint = say(use === 'ask' ? 'message_places_ask' : 'message_places').split(/(\{[a-z]+\})/)
  return (
    <PostForm guest={guest} action={PAGES.keepMessage.href()} hidden={{ for: use }}>
      <TextArea
        {...field}
        label={say('message_field')}
        hint={hint.map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}
        attributes={{
          ...{ rows: 8, required: true, maxlength: maxLengthOf(MAX_MESSAGE_CHARACTERS) },
          autocomplete: 'off',
        }}
      />
      <p class="picks" hidden data-inserts={field.id}>
        {hint.map(
          (part, at) =>
            at % 2 === 1 && (
              <button type="button" class="quiet">
                <code>{part}</code>
              </button>
            ),
        )}
      </p>
      <Submit>{say('message_save')}</Submit>
    </PostForm>
  )
}

type PreviewProps = { guest: Member; template: string; use: MessageUse; now: number }

/** Updated by a script on every keystroke. */
function Preview({ guest, template, use, now }: PreviewProps) {
  const { words, exchange } = guest
  const facts = {
    link:
      use === 'ask'
        ? requestLink(EXAMPLE.urlToken, exchange.linkBase)
        : secretLink(EXAMPLE, exchange.linkBase),
    expires: words.moment(now + 7 * DAY),
    views: words.say('views', { n: 5 }),
    name: use === 'ask' ? '' : 'Anna',
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
