// The form that creates a push: kind, payload, files, expiry, protection and labels.

import { MAX_QR_CHARACTERS } from '../../../domain/new-push.ts'
import { PUSH_KINDS, type PushKind } from '../../../domain/push.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import { PAGES } from '../../urls.ts'
import { signInHref } from '../frame/guest.ts'
import { Field, KIND_WORDS, problemTexts } from '../frame/parts.tsx'
import { type CreateFormProps, Expiry, Labels, type PartProps, Protection } from './create-fields.tsx'
import { Generator } from './generator.tsx'

export function CreateForm(props: CreateFormProps) {
  const { guest, limits, problems, unseen } = props
  const { say } = guest.words
  const parts: PartProps = { ...props, texts: problemTexts(problems, guest.words) }
  return (
    <form
      method="post"
      action={guest.href(PAGES.submitCreate.href())}
      enctype="multipart/form-data"
      class="create"
      data-max-file-bytes={limits.fileBytes}
      data-max-files={limits.files}
    >
      {/* Before the files, so that a problem with these is reported before a large file is received. */}
      <input type="hidden" name="push[opened_by]" value={unseen.openedBy} />
      {unseen.form === null ? null : <input type="hidden" name="push[form]" value={unseen.form} />}
      <input type="hidden" name="push[idempotency_key]" value={unseen.idempotencyKey} />
      <Kinds {...parts} />
      <Payload {...parts} />
      <Generator words={guest.words} wordlist={props.wordlist} />
      {limits.kinds.has('file') ? <Files {...parts} /> : null}
      <Expiry {...parts} />
      <Protection {...parts} />
      {props.isOfAccount ? <Labels {...parts} /> : null}
      <div class="actions">
        <button type="submit" class="primary">
          {say('create_submit')}
        </button>
      </div>
      <Progress words={guest.words} />
    </form>
  )
}

function Kinds({ guest, limits, typed }: PartProps) {
  const { say } = guest.words
  const chosen = typed('kind') || 'text'
  return (
    <fieldset class="kinds">
      <legend>{say('kind')}</legend>
      {PUSH_KINDS.filter((kind) => limits.kinds.has(kind)).map((kind) => (
        <label key={kind}>
          <input type="radio" id={`kind-${kind}`} name="push[kind]" value={kind} checked={kind === chosen} />
          {say(KIND_WORDS[kind])}
        </label>
      ))}
    </fieldset>
  )
}

/** One field for all kinds, so that changing the kind keeps the text; the style sheet shows the labels of the kind. */
function Payload({ guest, limits, typed, texts }: PartProps) {
  const { words } = guest
  const labels: [PushKind, WordKey][] = [
    ['text', 'payload_text'],
    ['file', 'payload_file'],
    ['url', 'payload_url'],
    ['qr', 'payload_qr'],
  ]
  const label = labels.map(([kind, key]) => (
    <span key={kind} data-kind={kind}>
      {words.say(key)}
    </span>
  ))
  const hint = (
    <>
      <span data-kind="text file">
        {words.say('payload_limit', { limit: words.bytes(limits.payloadBytes) })}
      </span>
      <span data-kind="url">{words.say('payload_url_hint')}</span>
      <span data-kind="qr">{words.say('payload_qr_limit', { n: MAX_QR_CHARACTERS })}</span>
      <output
        for="payload"
        data-counts="payload"
        data-characters={words.say('count_characters')}
        data-lines={words.say('count_lines')}
      />
    </>
  )
  return (
    <div class="payload">
      <Field id="payload" label={label} hint={hint} problem={texts.payload}>
        {(describes) => (
          <textarea
            name="push[payload]"
            rows={5}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            {...describes}
          >
            {typed('payload')}
          </textarea>
        )}
      </Field>
      <button
        type="button"
        class="quiet"
        hidden
        data-masks="payload"
        data-hide={words.say('hide')}
        data-show={words.say('show')}
      >
        {words.say('hide')}
      </button>
    </div>
  )
}

function Files({ guest, isOfAccount, limits, texts }: PartProps) {
  const { words, href } = guest
  const { say } = words
  if (!isOfAccount) {
    return (
      <div data-kind="file" class="notice plain">
        <p>{say('files_need_account')}</p>
        <a href={href(signInHref(PAGES.create.href()))}>{say('nav_sign_in')}</a>
      </div>
    )
  }
  const hint = say('files_limit', { n: limits.files, size: words.bytes(limits.fileBytes) })
  return (
    <div data-kind="file" class="files">
      <Field id="files" label={say('files')} hint={hint} problem={texts.files}>
        {(describes) => <input type="file" name="push[files][]" multiple {...describes} />}
      </Field>
      <p class="drop" hidden data-drop>
        {say('files_drop')}
      </p>
      <ul
        class="chosen"
        data-chosen
        data-remove={say('files_remove')}
        data-too-large={say('file_too_large')}
      />
    </div>
  )
}

/** A script fills this in while files are sent. */
function Progress({ words: { say } }: { words: Words }) {
  const again = say('upload_again')
  return (
    <div class="progress" hidden data-progress>
      <label for="upload-progress">{say('upload_progress')}</label>
      <progress id="upload-progress" max={100} value={0} />
      <output for="files" data-rate={say('upload_rate')} data-finishing={say('upload_finishing')} />
      <button type="button" class="quiet" data-cancel>
        {say('cancel')}
      </button>
      <p
        class="problem"
        role="alert"
        data-cancelled={say('upload_cancelled')}
        data-cancelled-late={say('upload_cancelled_late', { again })}
        data-broken={say('upload_broken', { again })}
        data-refused={say('upload_refused')}
      />
      <button type="submit" hidden data-retry>
        {again}
      </button>
    </div>
  )
}
