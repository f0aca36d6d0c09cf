// An opened text: a masked password, a message, or lines with a copy button each.

import { PAGES } from '../../http/urls.ts'
import { Eye } from '../frame/fields.tsx'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { CopyButton } from '../frame/parts.tsx'
import { linesOf, shapeOf, splitLine } from './secret-shape.ts'

/** The name of the saved file. Not the name of the push, which only its owner may see. */
export const SAVED_NAME = 'secret.txt'

type TextProps = {
  guest: Guest
  urlToken: string
  payload: string
  sealedText: string | null
  hasFiles?: boolean
}

/** A text; beside files it has a heading, and its copy button is quiet. */
export function RevealedText({ guest, urlToken, payload, sealedText, hasFiles = false }: TextProps) {
  const shape = shapeOf(payload)
  return (
    <section class="secret" aria-label={guest.say('revealed_text')}>
      {hasFiles && <h2>{guest.say('kind_text')}</h2>}
      {shape === 'hidden' ? (
        <Hidden guest={guest} payload={payload} />
      ) : (
        <Open guest={guest} payload={payload} shape={shape} />
      )}
      <div class="actions unprinted">
        <CopyButton target="payload" words={guest.words} look={hasFiles ? 'quiet' : 'primary'} />
        <SaveForm guest={guest} urlToken={urlToken} sealedText={sealedText} />
      </div>
      {shape === 'hidden' ? <p class="hint" aria-live="polite" data-hiding /> : null}
    </section>
  )
}

/**
 * The sender's message with the files. It is never hidden. Its copy button is quiet, because the files come
 * first.
 */
export function RevealedMessage({ guest, payload }: Pick<TextProps, 'guest' | 'payload'>) {
  const shape = shapeOf(payload) === 'lines' ? 'lines' : 'prose'
  return (
    <section class="secret" aria-labelledby="message-title">
      <h2 id="message-title">{guest.say('revealed_message')}</h2>
      <Open guest={guest} payload={payload} shape={shape} />
      <div class="actions unprinted">
        <CopyButton target="payload" words={guest.words} look="quiet" />
      </div>
    </section>
  )
}

type OpenProps = Pick<TextProps, 'guest' | 'payload'> & { shape: 'lines' | 'prose' }

function Open({ guest, payload, shape }: OpenProps) {
  const isLines = shape === 'lines'
  return (
    <pre id="payload" class={shape} dir={isLines ? undefined : 'auto'} tabIndex={0} {...exact(payload)}>
      {isLines ? <Lines guest={guest} payload={payload} /> : asPre(payload)}
    </pre>
  )
}

/**
 * Returns an exact copy for the copy button if the text contains CR or NUL: HTML turns CR into LF and cannot
 * contain NUL.
 */
export function exact(payload: string) {
  return /[\r\0]/.test(payload) ? { 'data-exact': encodeURIComponent(payload) } : {}
}

/** Adds a line break, because HTML drops the first one after a <pre> tag. */
export function asPre(payload: string): string {
  return `\n${payload}`
}

/**
 * Shows the same number of dots for every text, to hide its length. Opens without a script; a script closes
 * it after a while.
 */
function Hidden({ guest, payload }: { guest: Guest; payload: string }) {
  const { say } = guest
  return (
    <details class="field-of-dots" data-hides data-hidden={say('hidden_again')}>
      <summary>
        <span class="dots when-closed" aria-hidden="true">
          ••••••••••••
        </span>
        <span class="when-closed eye">
          <Icon name="eye" />
          <span class="visually-hidden">{say('revealed_show')}</span>
        </span>
        <span class="when-open eye">
          <Icon name="eye-off" />
          <span class="visually-hidden">{say('revealed_hide')}</span>
        </span>
      </summary>
      <pre id="payload" dir="auto" tabIndex={0} {...exact(payload)}>
        {asPre(payload)}
      </pre>
    </details>
  )
}

/**
 * Renders lines so that the text content is exactly the payload: the buttons contain no text. Each line, and
 * each value behind a label, has its own text direction. Otherwise a right-to-left page would reorder the
 * punctuation of a password.
 */
function Lines({ guest, payload }: { guest: Guest; payload: string }) {
  const lines = linesOf(payload)
  return lines.map((line, at) => {
    const { label, value, isPassword } = splitLine(line)
    const end = at === lines.length - 1 ? '' : '\n'
    return (
      <span class={isPassword ? 'line unseen' : 'line'}>
        <span dir="auto">
          {label === '' ? (
            <span id={`line-${at}`}>{value}</span>
          ) : (
            <>
              <span class="label">{label}</span>
              <bdi id={`line-${at}`} class={isPassword ? 'masked' : undefined}>
                {value}
              </bdi>
            </>
          )}
          {end}
        </span>
        {isPassword && <Eye words={guest.words} controls={`line-${at}`} />}
        {value.trim() === '' ? null : (
          <CopyButton
            target={`line-${at}`}
            words={guest.words}
            label={copyLabel(guest, { label, at })}
            look="bare square"
          />
        )}
      </span>
    )
  })
}

function copyLabel({ words }: Guest, { label, at }: { label: string; at: number }): string {
  const name = label.replace(/(?<![\s:=\uff1a])[\s:=\uff1a]+$/u, '').trim()
  return name === '' ? words.say('copy_line', { line: at + 1 }) : words.say('copy_named', { name })
}

/**
 * Saves the text as a file. With a script the browser creates the file; without one the server sends the text
 * back.
 */
function SaveForm({ guest, urlToken, sealedText }: Omit<TextProps, 'payload' | 'hasFiles'>) {
  return (
    <form
      method="post"
      action={guest.href(PAGES.saveText.href({ url_token: urlToken }))}
      data-saves="payload"
      data-name={SAVED_NAME}
      hidden={sealedText === null}
    >
      {sealedText === null ? null : <input type="hidden" name="text" value={sealedText} />}
      <button type="submit" class="quiet">
        <Icon name="save" />
        <span>{guest.say('save_file')}</span>
      </button>
    </form>
  )
}
