// The file field of the create form, or why files need an account.

import type { PushLimits } from '../../../domain/new-push.ts'
import { PAGES } from '../../../http/urls.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import { Field } from '../../frame/fields.tsx'
import { signInHref } from '../../frame/guest.ts'
import type { Children } from '../../frame/html.ts'
import { Icon } from '../../frame/icons.tsx'
import { Notice } from '../../frame/parts.tsx'
import type { PartProps } from './create-props.ts'

export function CreateFiles({ words, href, isOfAccount, signups, limits, texts }: PartProps) {
  if (!isOfAccount) return <WhyAccount {...{ words, href, signups }} />
  return (
    <div data-kind="file" class="files">
      <Chosen words={words} limits={limits} problem={texts.files} />
    </div>
  )
}

/** The file field, and the texts with which a script describes the chosen files. */
export function Chosen({ words, limits, problem }: { words: Words; limits: PushLimits; problem: Children }) {
  const { say } = words
  const most = { n: limits.files, size: words.bytes(limits.fileBytes) }
  return (
    <>
      <Field id="files" label={say('files')} hint={say('files_limit', most)} problem={problem}>
        {(describes) => (
          <div class="drop">
            <Icon name="file" />
            <span class="of-mouse">{say('files_drop')}</span>
            <span class="of-touch">{say('files_choose')}</span>
            <input type="file" name="push[files][]" multiple {...describes} />
          </div>
        )}
      </Field>
      <ul
        class="chosen"
        data-chosen
        data-remove={say('files_remove')}
        data-total={say('files_total')}
        data-too-large={say('file_too_large', most)}
        data-too-many={say('problem_too_many_files', { n: limits.files, limit: limits.files })}
        data-max-bytes={limits.fileBytes}
        data-max-files={limits.files}
      />
    </>
  )
}

function WhyAccount({ words: { say }, href, signups }: Pick<PartProps, 'words' | 'href' | 'signups'>) {
  const back = encodeURIComponent(`${PAGES.create.href()}?kind=file`)
  return (
    <div data-kind="file">
      <Notice kind="plain">
        <p>
          <strong>{say('files_need_account')}</strong> {say('files_why_account')}
        </p>
        <p class="actions">
          <a class="button primary" href={href(signInHref(back))}>
            {say('nav_sign_in')}
          </a>
          {signups ? <a href={href(PAGES.signUp.href())}>{say('sign_up_link')}</a> : null}
        </p>
      </Notice>
    </div>
  )
}

/** `of` chooses the texts for an upload that failed or whose outcome is unknown. */
type ProgressProps = { words: Words; of?: 'upload' | 'answer' }

/** The progress of an upload, which a script fills in. */
export function Progress({ words: { say }, of = 'upload' }: ProgressProps) {
  const again = say('upload_again')
  return (
    <div class="progress" hidden data-progress>
      <label for="upload-progress">{say('upload_progress')}</label>
      <progress id="upload-progress" max={100} value={0} />
      <output
        for="files"
        data-rate={say('upload_rate')}
        data-left={say('upload_left')}
        data-finishing={say('upload_finishing')}
        data-sealing={say('sealed_progress')}
      />
      <button type="button" class="quiet" data-cancel>
        {say('cancel')}
      </button>
      <p
        class="problem"
        role="alert"
        data-cancelled={say(`${of}_cancelled`)}
        data-cancelled-late={say(`${of}_cancelled_late`, { again })}
        data-broken={say(`${of}_broken`, { again })}
        data-refused={say('upload_refused')}
        data-unsealed={say('sealed_failed')}
      />
      <button type="submit" hidden data-retry>
        {again}
      </button>
    </div>
  )
}

type OverlayProps = {
  words: Words /** Why files are refused; null if they are accepted. */
  refusal: WordKey | null
}

/** Covers the page while files are dragged over it. Says that they can be dropped, or why not. */
export function DropOverlay({ words: { say }, refusal }: OverlayProps) {
  return (
    <p class={refusal === null ? 'overlay' : 'overlay refused'} aria-hidden="true">
      <Icon name={refusal === null ? 'upload' : 'circle-alert'} />
      {say(refusal ?? 'files_drop_here')}
    </p>
  )
}
