// The form that creates a push: name, payload, expiry, passphrase and button. All other fields are folded
// away.

import { MAX_RECIPIENTS, MAX_RECIPIENTS_TEXT } from '../../../domain/mail-address.ts'
import { MAX_PASSPHRASE_BYTES } from '../../../domain/new-push.ts'
import { PAGES } from '../../../http/urls.ts'
import { LANGUAGE_NAMES, LANGUAGES, tagOf, type Words } from '../../../words/words.ts'
import { createFieldOf, Input, problemTexts, Select, Tick } from '../../frame/fields.tsx'
import type { Guest } from '../../frame/guest.ts'
import type { Html } from '../../frame/html.ts'
import { Icon } from '../../frame/icons.tsx'
import { NameInput, NoteInput, PassphraseInput } from '../../frame/push-fields.tsx'
import { Content } from './create-content.tsx'
import { Expiry } from './create-expiry.tsx'
import { DropOverlay, Progress } from './create-files.tsx'
import { type FieldsProps, type FormKind, formKinds, type PartProps } from './create-props.ts'
import { Sealing, ServerReads } from './create-sealing.tsx'
import type { Unseen } from './create-sender.ts'

export function CreateForm({ guest, unseen, fields }: { guest: Guest; unseen: Unseen; fields: Html }) {
  return (
    <form
      method="post"
      action={guest.href(PAGES.submitCreate.href())}
      enctype="multipart/form-data"
      class="create"
      novalidate
    >
      {/* Must precede the files, so that problems here are reported before a large file arrives. */}
      <input type="hidden" name="push[opened_by]" value={unseen.openedBy} />
      {unseen.form !== null && <input type="hidden" name="push[form]" value={unseen.form} />}
      <input type="hidden" name="push[idempotency_key]" value={unseen.idempotencyKey} />
      {fields}
    </form>
  )
}

export function CreateFields(props: FieldsProps) {
  const { words, isOfAccount, limits, problems, typed } = props
  const kinds = formKinds(limits)
  const kind = kinds.find((known) => known === typed('kind')) ?? kinds[0] ?? 'text'
  const starts = (of: FormKind) => !props.isAgain && of === kind
  const texts = problemTexts(problems, words)
  const field = createFieldOf({ typed, texts, wrapper: 'push' })
  const parts: PartProps = { ...props, kind, starts, texts, field }
  // Without an account the file kind has no fields.
  const kindsToSend = isOfAccount ? undefined : 'text url qr wifi'
  return (
    <>
      {isOfAccount && <NameInput words={words} {...field('name')} label={readable('name', parts)} />}
      <Content {...parts} />
      <div class="settings" data-kind={kindsToSend}>
        <Expiry {...parts} />
        <Passphrase {...parts} />
        <Options {...parts} />
      </div>
      <div class="actions" data-kind={kindsToSend}>
        <button type="submit" class="primary" aria-keyshortcuts="Control+Enter Meta+Enter">
          {words.say('create_submit')}
        </button>
        <span class="hint" dir="ltr" hidden data-shortcut>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
        <Sealing {...parts} />
      </div>
      <Progress words={words} />
      <DropOverlay words={words} refusal={refusalOfFiles(props)} />
    </>
  )
}

/** Returns a label that says that this field is not encrypted, shown while the content is. */
function readable(key: 'name' | 'note', { words }: PartProps) {
  return (
    <>
      {words.say(key)}
      <ServerReads words={words} />
    </>
  )
}

function refusalOfFiles({ limits, isOfAccount }: FieldsProps) {
  if (!limits.kinds.has('file')) return 'problem_files_disabled'
  return isOfAccount ? null : 'files_need_account'
}

function Passphrase({ words, field, limits, createScripts }: PartProps) {
  return (
    <PassphraseInput
      {...field('passphrase')}
      words={words}
      label={words.say(limits.requirePassphrase ? 'passphrase' : 'passphrase_optional')}
      hint={
        <>
          <span data-when-plain>{words.say('passphrase_hint')}</span>
          <span hidden data-when-sealed>
            {words.say('sealed_passphrase')}
          </span>
        </>
      }
      trailing={<Dice words={words} wordlist={createScripts.wordlist} />}
      attributes={{
        autocomplete: 'new-password',
        required: limits.requirePassphrase,
        'data-max-bytes': MAX_PASSPHRASE_BYTES,
        'data-too-long': words.say('too_large_typed', { limit: words.bytes(MAX_PASSPHRASE_BYTES) }),
      }}
    />
  )
}

/** The button with which a script fills in random words. */
export function Dice({ words: { say }, wordlist }: { words: Words; wordlist: string }) {
  const label = say('passphrase_words')
  return (
    <button type="button" hidden data-draws data-words={wordlist} aria-label={label} title={label}>
      <Icon name="dices" />
    </button>
  )
}

export function Options(props: PartProps) {
  const { words, isOfAccount, limits, typed, texts, field } = props
  const { say } = words
  const isFilled = FOLDED.some((name) => texts[name] !== undefined || typed(name) !== '')
  return (
    <details class="options" open={isFilled}>
      <summary>{say('more_options')}</summary>
      {isOfAccount && limits.mail && (
        <>
          <p class="hint" hidden data-when-sealed>
            {say('sealed_no_mail')}
          </p>
          <div data-when-plain>
            <Recipients {...props} />
          </div>
        </>
      )}
      <Ticks {...props} />
      {isOfAccount && <NoteInput words={words} {...field('note')} label={readable('note', props)} />}
    </details>
  )
}

const FOLDED = ['note', 'notify_emails_to'] as const

/**
 * The recipients' e-mail addresses. The URL never presets them: a crafted URL could send the link to an
 * attacker.
 */
function Recipients({ words, field }: PartProps) {
  const { say } = words
  const locale = field('notify_emails_to_locale')
  return (
    <>
      <Input
        {...field('notify_emails_to')}
        label={say('notify_to')}
        hint={say('notify_to_hint', { n: MAX_RECIPIENTS })}
        attributes={{
          ...{ maxlength: MAX_RECIPIENTS_TEXT, inputmode: 'email', dir: 'ltr' },
          ...{ autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' },
        }}
      />
      <Select
        {...locale}
        value={locale.value || words.language}
        label={say('notify_language')}
        options={LANGUAGES.map((one) => [one, LANGUAGE_NAMES[one], tagOf(one)])}
      />
    </>
  )
}

const TICKS = [
  { field: 'retrieval_step', setting: 'retrievalStep', hint: 'retrieval_step_hint' },
  { field: 'deletable_by_viewer', setting: 'deletableByViewer', hint: 'deletable_by_viewer_hint' },
] as const

function Ticks({ words: { say }, limits, isOfAccount, typed }: PartProps) {
  const ticks = TICKS.map(({ field, setting, hint }) => (
    <Tick
      id={field}
      name={`push[${field}]`}
      label={say(field)}
      hint={say(hint)}
      isTicked={typed(field) === '' ? limits[setting] : typed(field) === 'true'}
      otherwise="false"
    />
  ))
  const tellsSender = isOfAccount && limits.showSender && (
    <Tick
      id="shows_sender"
      name="push[shows_sender]"
      label={say('shows_sender')}
      hint={say('shows_sender_hint')}
      isTicked={typed('shows_sender') === 'true'}
    />
  )
  const asksCode = (
    <Tick
      id="code_required"
      name="push[code_required]"
      label={say('code_required')}
      hint={say('code_required_hint')}
      isTicked={typed('code_required') === 'true'}
    />
  )
  return [tellsSender, ticks, asksCode]
}
