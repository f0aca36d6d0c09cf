// The form that creates a push: for whom, what is shared, when it expires, a passphrase, and the button. The rest is folded away.

import { MAX_PASSPHRASE_BYTES } from '../../../domain/new-push.ts'
import { PAGES } from '../../../http/urls.ts'
import { createFieldOf, problemTexts } from '../../frame/fields.tsx'
import type { Guest } from '../../frame/guest.ts'
import type { Html } from '../../frame/html.ts'
import { Icon } from '../../frame/icons.tsx'
import { NameInput, PassphraseInput } from '../../frame/push-fields.tsx'
import { Content } from './create-content.tsx'
import { Expiry } from './create-expiry.tsx'
import { DropOverlay, Progress } from './create-files.tsx'
import { Options } from './create-options.tsx'
import { type FieldsProps, type FormKind, formKinds, type PartProps } from './create-props.ts'
import type { Unseen } from './create-sender.ts'

type CreateFormProps = { guest: Guest; unseen: Unseen; fields: Html }

export function CreateForm({ guest, unseen, fields }: CreateFormProps) {
  return (
    <form
      method="post"
      action={guest.href(PAGES.submitCreate.href())}
      enctype="multipart/form-data"
      class="create"
      novalidate
    >
      {/* Before the files, so that a problem with these is reported before a large file is received. */}
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
  // Without an account there is nothing to fill in for files.
  const kindsToSend = isOfAccount ? undefined : 'text url qr wifi'
  return (
    <>
      {isOfAccount && <NameInput words={words} {...field('name')} />}
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
      </div>
      <Progress words={words} />
      <DropOverlay words={words} refusal={refusalOfFiles(props)} />
    </>
  )
}

function refusalOfFiles({ limits, isOfAccount }: FieldsProps) {
  if (!limits.kinds.has('file')) return 'problem_files_disabled'
  return isOfAccount ? null : 'files_need_account'
}

function Passphrase({ words, field }: PartProps) {
  return (
    <PassphraseInput
      {...field('passphrase')}
      words={words}
      label={words.say('passphrase_optional')}
      hint={words.say('passphrase_hint')}
      trailing={<Dice words={words} />}
      attributes={{
        autocomplete: 'new-password',
        'data-max-bytes': MAX_PASSPHRASE_BYTES,
        'data-too-long': words.say('too_large_typed', { limit: words.bytes(MAX_PASSPHRASE_BYTES) }),
      }}
    />
  )
}

/** A script fills in what it draws. */
function Dice({ words: { say } }: Pick<PartProps, 'words'>) {
  const label = say('passphrase_words')
  return (
    <button type="button" hidden data-draws aria-label={label} title={label}>
      <Icon name="dices" />
    </button>
  )
}
