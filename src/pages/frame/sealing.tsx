// Parts of pages that encrypt or decrypt in the browser. The server renders them, and never has the key.

import { isEndToEnd, type Push } from '../../domain/push.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Children } from './html.ts'
import { Flag, fillIn, Notice } from './parts.tsx'

/** The URLs of scripts that are loaded on demand. `age` encrypts and decrypts. */
export type SealingScripts = Record<'age' | 'seal' | 'unseal' | 'identity' | 'qrPicture', string>

/** Says that the server accepts only content that a script or the command has encrypted. */
export function SealedRequired({ words: { say }, command }: { words: Words; command: string }) {
  return (
    <Notice kind="low">
      <p>{fillIn(say('sealed_required'), 'command', <Flag>{command}</Flag>)}</p>
    </Notice>
  )
}

type NeedsScriptProps = {
  words: Words
  command: string
  /**
   * Shown instead of the form if the browser runs no scripts. Must contain no <noscript>: the first end tag
   * would end both.
   */
  otherwise: Children
  attributes?: Readonly<Record<string, string>>
  children: Children
}

/**
 * A form that works only with scripts. It is in a template: if the scripts fail, there is no form that could
 * send what was typed, or use up a view.
 */
export function NeedsScript({ words, command, otherwise, attributes, children }: NeedsScriptProps) {
  const { say } = words
  return (
    <>
      <noscript>{otherwise}</noscript>
      <p class="hint" role="status" data-loading data-broken={say('sealed_broken', { command })}>
        {say('sealed_loading', { command })}
      </p>
      <template data-needs-script {...attributes}>
        {children}
      </template>
    </>
  )
}

/**
 * A chooser for an identity file. It is outside every form and has no `name`, so that nothing can send the
 * file.
 */
export function IdentityChooser({
  words: { say },
  label = say('sealed_identity'),
}: {
  words: Words
  label?: string
}) {
  return (
    <div class="field" hidden data-asks="identity">
      <label for="identity">{label}</label>
      <input type="file" id="identity" autocomplete="off" aria-describedby="identity-hint" />
      <p class="hint" id="identity-hint">
        {say('sealed_identity_hint')}
      </p>
    </div>
  )
}

/** Attributes that keep browsers from changing or storing what is pasted. */
const UNTOUCHED_LINK: Record<string, string> = {
  ...{ autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' },
}

/** A field for the whole link, for when the key was cut off. It has no `name` either. */
export function WholeLinkInput({ words: { say } }: { words: Words }) {
  return (
    <div class="field" hidden data-asks="link">
      <label for="whole-link">{say('sealed_whole_link')}</label>
      <input type="text" id="whole-link" dir="ltr" {...UNTOUCHED_LINK} />
    </div>
  )
}

/** An empty status line; the script writes the outcome into it. */
export function Told() {
  return <p class="notice low" role="alert" hidden data-told />
}

type OwnKeyProps = {
  words: Words
  scripts: SealingScripts
  label?: string
  /** The public key whose identity file is needed; null for any. */
  recipient: string | null
  children?: Children
}

/** Hands an identity file to a script. Hidden without scripts. */
export function OwnKey({ words, scripts, label, recipient, children }: OwnKeyProps) {
  return (
    <div
      hidden
      class="unsealing"
      data-loads={scripts.identity}
      data-age={scripts.age}
      data-qr={scripts.qrPicture}
      data-recipient={recipient}
      data-words={textsOf(words)}
    >
      {children}
      <Told />
      <IdentityChooser words={words} {...(label === undefined ? {} : { label })} />
    </div>
  )
}

/** The texts with which the script renders what it has opened. */
const TEXTS = [
  ...['copied', 'copy', 'copy_failed', 'copy_line', 'copy_named', 'show', 'save_file', 'files', 'file_lost'],
  ...['revealed_text', 'revealed_message', 'revealed_show', 'revealed_hide', 'hidden_again'],
  ...['download_rate', 'download_done', 'receive_outage_doubt'],
  ...[
    'sealed_key_missing',
    'sealed_key_foreign',
    'sealed_other_link',
    'sealed_no_identity',
    'sealed_opening',
  ],
  ...['sealed_refused', 'sealed_file', 'sealed_file_refused', 'sealed_unnumbered', 'key_made', 'key_read'],
  ...['request_marked', 'request_other_key', 'sealed_broken'],
] as WordKey[]

export function textsOf(words: Words): string {
  return JSON.stringify(Object.fromEntries(TEXTS.map((key) => [key, words.forms(key)])))
}

/** Returns the text for who encrypted a push; null for one that the server can read. */
export function sealedKey(push: Push, isReceived: boolean) {
  if (isEndToEnd(push)) return isReceived ? 'sealed_arrived' : 'sealed_state'
  return push.encryptedBy === null ? null : 'sealed_by_server'
}
