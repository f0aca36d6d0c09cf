// The markup of the password generator. Its script draws the random numbers in the browser.

import type { Words } from '../../../words/words.ts'
import { Icon } from '../../frame/icons.tsx'

/** The options of the generator, in a menu that covers the fields below and moves nothing. */
export function Generator({ words: { say } }: { words: Words }) {
  return (
    <details class="generator menu" hidden data-generator data-kind="text">
      <summary>
        <Icon name="sliders-horizontal" />
        <span>{say('generator_options')}</span>
      </summary>
      <div class="sheet">
        <div class="pair">
          <div class="field">
            <label for="generator-mode">{say('generator_mode')}</label>
            <select id="generator-mode">
              <option value="characters">{say('generator_characters')}</option>
              <option value="words">{say('generator_words')}</option>
            </select>
          </div>
          <div class="field" data-mode="characters">
            <label for="generator-length">{say('generator_length')}</label>
            <input id="generator-length" type="number" inputmode="numeric" min={8} max={128} value={20} />
          </div>
          <div class="field" data-mode="words">
            <label for="generator-count">{say('generator_count')}</label>
            <input id="generator-count" type="number" inputmode="numeric" min={3} max={20} value={6} />
          </div>
        </div>
        <div class="ticks" data-mode="characters">
          <Option id="generator-upper" label="A–Z" isTicked />
          <Option id="generator-lower" label="a–z" isTicked />
          <Option id="generator-digits" label="0–9" isTicked />
          <Option id="generator-marks" label="!?#…" isTicked />
          <Option id="generator-clear" label={say('generator_clear')} />
        </div>
        <div class="field" data-mode="words">
          <label for="generator-separator">{say('generator_separator')}</label>
          <input id="generator-separator" type="text" maxlength={3} value="-" autocomplete="off" />
        </div>
        <p
          class="strength"
          aria-live="polite"
          data-strength
          data-weak={say('strength_weak')}
          data-fair={say('strength_fair')}
          data-strong={say('strength_strong')}
          data-excellent={say('strength_excellent')}
        />
      </div>
    </details>
  )
}

function Option({ id, label, isTicked = false }: { id: string; label: string; isTicked?: boolean }) {
  return (
    <div class="tick">
      <input type="checkbox" id={id} checked={isTicked} />
      <label for={id}>
        <bdi>{label}</bdi>
      </label>
    </div>
  )
}
