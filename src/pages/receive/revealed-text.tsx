// An opened text: dots with an eye for a password, a message as it is, and lines that can be copied one by
// one.

import { PAGES } from '../../http/urls.ts'
import { Eye } from '../frame/fields.tsx'
import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { CopyButton } from '../frame/parts.tsx'
import { linesOf, shapeOf, splitLine } from './secret-shape.ts'

/** The name of the file with a saved text. Not the name of the push, which only its owner may see. */
export const SAVED_NAME = 'secret.txt'

type TextProps = { guest: Guest; urlToken: string; payload: string; sealedText: string | null }

export function RevealedText({ guest, urlToken, payload, sealedText }: TextProps) {
  const shape = shapeOf(payload)
  return (
    <section class="secret" aria-label={guest.say('revealed_text')}>
      {shape === 'hidden' ? (
        <Hidden guest={guest} payload={payload} />
      ) : (
        <Open guest={guest} payload={payload} shape={shape} />
      )}
      <div class="actions unprinted">
        <CopyButton target="payload" words={guest.words} look="primary" />
        <SaveForm guest={guest} urlToken={urlToken} sealedText={sealedText} />
      </div>
      {shape === 'hidden' ? <p class="hint" aria-live="polite" data-hiding /> : null}
    </section>
  )
}

/**
 * What the sender says with the files: to be read, so it is never hidden, and its button leaves the first
 * place to the files.
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
 * A second, exact copy of a text with CR or NUL, for the copy button: HTML turns CR into LF and cannot
 * contain NUL.
 */
export function exact(payload: string) {
  return /[\r\0]/.test(payload) ? { 'data-exact': encodeURIComponent(payload) } : {}
}

/** HTML ignores the first line break after a <pre> tag. */
export function asPre(payload: string): string {
  return `\n${payload}`
}

/**
 * The same number of dots for every text, to hide its length. Opens without a script; a script closes it
 * after a while.
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
 * Its text content is exactly the payload, because the buttons contain no text. Each line has the direction
 * of its own text, and so has a value behind a label: marks of a password would change places on a page that
 * is read from right to left.
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

/** Without a script the server sends the text back as a file; a script makes the file in the browser. */
function SaveForm({ guest, urlToken, sealedText }: Omit<TextProps, 'payload'>) {
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
