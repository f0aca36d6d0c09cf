// The ways to hand over a secret link: copy, scan, e-mail or share it, with an editable message.

import { PAGES } from '../../http/urls.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { CopyButton } from '../frame/parts.tsx'
import { mailHref } from './message.ts'

type WaysProps = { guest: Guest; message: string; hasPassphrase: boolean; subject?: WordKey }

/**
 * The buttons to hand over the link. Copying needs a script, sharing a browser that supports it; e-mail
 * always works.
 */
export function Ways({ guest, message, hasPassphrase, subject: key = 'message_subject' }: WaysProps) {
  const { say } = guest
  const subject = say(key)
  return (
    <div class="ways unprinted">
      <CopyButton target="link" words={guest.words} label={say('created_copy')} look="primary large" />
      {hasPassphrase && <Passphrase words={guest.words} />}
      <a
        class="button quiet"
        href={mailHref({ subject, body: message })}
        data-mails="message"
        data-subject={subject}
      >
        <Icon name="mail" />
        <span>{say('created_mail')}</span>
      </a>
      <button type="button" class="quiet" hidden data-shares="message">
        <Icon name="share-2" />
        <span>{say('created_share')}</span>
      </button>
    </div>
  )
}

/**
 * The button that copies the passphrase. A script shows it on the page after the form, and fills in what was
 * typed.
 */
function Passphrase({ words }: { words: Words }) {
  return (
    <div hidden data-kept>
      <input hidden readonly id="kept-passphrase" autocomplete="off" />
      <CopyButton target="kept-passphrase" words={words} label={words.say('created_copy_passphrase')} />
    </div>
  )
}

type MessageProps = Pick<WaysProps, 'guest' | 'message'> & {
  /** The query of the page that edits its template. */
  edit?: string
}

/** The editable message. A script puts it into the e-mail; browsers do not store it. */
export function Message({ guest, message, edit = '' }: MessageProps) {
  const { say } = guest
  return (
    <section class="message unprinted">
      <label for="message">{say('created_message')}</label>
      <textarea
        id="message"
        rows={message.split('\n').length + 1}
        dir="auto"
        autocomplete="off"
        aria-describedby="message-hint"
      >
        {`\n${message}`}
      </textarea>
      <p class="hint" id="message-hint">
        {say('created_message_hint')}
      </p>
      <div class="actions">
        <CopyButton target="message" words={guest.words} label={say('created_message_copy')} />
        {guest.session && (
          <a href={guest.href(`${PAGES.message.href()}${edit}`)}>{say('created_message_template')}</a>
        )}
      </div>
    </section>
  )
}
