// The field for a passphrase, with an eye that shows it.

import type { Words } from '../../words/words.ts'
import { Icon } from './icons.tsx'
import { Input, type InputProps } from './parts.tsx'

/**
 * A passphrase whose characters the style hides until its box is ticked, without a script: nobody can look up a mistyped
 * passphrase, and it would lock out every recipient.
 */
export function PassphraseInput({
  words,
  attributes,
  ...input
}: Omit<InputProps, 'type'> & { words: Words }) {
  const typed = { ...attributes, class: 'masked', spellcheck: 'false', autocapitalize: 'off' }
  const eye = (
    <label class="show">
      <input type="checkbox" autocomplete="off" aria-label={words.say('show')} aria-controls={input.id} />
      <Icon name="eye" />
      <Icon name="eye-off" />
    </label>
  )
  return (
    <div class="unseen">
      <Input {...input} attributes={typed} trailing={eye} />
    </div>
  )
}
