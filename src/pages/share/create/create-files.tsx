// The files of a push, and why they need an account.

import { PAGES } from '../../../http/urls.ts'
import type { Words } from '../../../words/words.ts'
import { Field } from '../../frame/fields.tsx'
import { signInHref } from '../../frame/guest.ts'
import { Icon } from '../../frame/icons.tsx'
import { Notice } from '../../frame/parts.tsx'
import type { PartProps } from './create-props.ts'

export function CreateFiles({ words, href, isOfAccount, signups, limits, texts }: PartProps) {
  const { say } = words
  if (!isOfAccount) return <WhyAccount {...{ words, href, signups }} />
  const most = { n: limits.files, size: words.bytes(limits.fileBytes) }
  return (
    <div data-kind="file" class="files">
      <Field id="files" label={say('files')} hint={say('files_limit', most)} problem={texts.files}>
        {(describes) => <input type="file" name="push[files][]" multiple {...describes} />}
      </Field>
      <p class="drop" hidden data-drop>
        <Icon name="upload" />
        {say('files_drop')}
      </p>
      <ul
        class="chosen"
        data-chosen
        data-remove={say('files_remove')}
        data-too-large={say('file_too_large', most)}
        data-too-many={say('problem_too_many_files', { n: limits.files, limit: limits.files })}
        data-max-bytes={limits.fileBytes}
        data-max-files={limits.files}
      />
    </div>
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

/** A script fills this in while files are sent. */
export function Progress({ words: { say } }: { words: Words }) {
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
      />
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
