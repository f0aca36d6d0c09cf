// The payload of the create form, with fields for each kind: text, files, link, QR code and Wi-Fi network.
// The style sheet shows those of the chosen kind.

import { Input } from '../../frame/fields.tsx'
import { Icon } from '../../frame/icons.tsx'
import { KIND_ICONS } from '../../frame/parts.tsx'
import { PayloadInput, UNTOUCHED } from '../../frame/push-fields.tsx'
import { CreateFiles } from './create-files.tsx'
import { formKinds, type PartProps } from './create-props.ts'
import { CreateQr } from './create-qr.tsx'
import { Generator } from './generator.tsx'

export function Content(props: PartProps) {
  const { kinds } = props.limits
  return (
    <>
      <Kinds {...props} />
      {kinds.has('file') && <CreateFiles {...props} />}
      <Payload {...props} />
      {kinds.has('url') && <Link {...props} />}
      {kinds.has('qr') && <CreateQr {...props} />}
    </>
  )
}

function Kinds({ words: { say }, limits, kind: chosen }: PartProps) {
  return (
    <fieldset class="kinds">
      <legend class="visually-hidden">{say('kind')}</legend>
      {formKinds(limits).map((kind) => (
        <label>
          <input type="radio" id={`kind-${kind}`} name="push[kind]" value={kind} checked={kind === chosen} />
          <Icon name={kind === 'wifi' ? kind : KIND_ICONS[kind]} />
          {say(kind === 'wifi' ? kind : `kind_${kind}`)}
        </label>
      ))}
    </fieldset>
  )
}

/** The field for a text, and for the message with files. */
function Payload({ words, limits, isOfAccount, kind, typed, texts, starts }: PartProps) {
  const { say } = words
  const label = (
    <>
      <span data-kind="text">{say('payload_text')}</span>
      {isOfAccount && <span data-kind="file">{say('payload_file')}</span>}
    </>
  )
  return (
    <div class="payload" data-kind={isOfAccount ? 'text file' : 'text'}>
      <PayloadInput
        {...{ words, limits, label }}
        problem={kind === 'text' || kind === 'file' ? texts.payload : undefined}
        value={typed('payload')}
        autofocus={starts('text')}
      />
      <div class="tools">
        <output
          for="payload"
          data-counts="payload"
          data-characters={say('count_characters')}
          data-lines={say('count_lines')}
          data-sealed={say('sealed_size')}
        />
        {limits.kinds.has('url') && (
          <button type="button" class="bare" hidden data-kind="text" data-offers>
            <Icon name="link" />
            <span>{say('payload_as_link')}</span>
          </button>
        )}
        <button
          type="button"
          class="bare"
          hidden
          data-kind="text"
          data-generates="payload"
          data-again={say('generator_again')}
        >
          <Icon name="wand-sparkles" />
          <span>{say('generator')}</span>
        </button>
        <Generator words={words} />
        <button
          type="button"
          class="bare"
          hidden
          data-masks="payload"
          data-hide={say('hide')}
          data-show={say('show')}
        >
          {say('hide')}
        </button>
      </div>
    </div>
  )
}

function Link({ words: { say }, kind, typed, texts, starts }: PartProps) {
  return (
    <div data-kind="url">
      <Input
        id="link"
        name="push[link]"
        label={say('payload_url')}
        hint={say('payload_url_hint')}
        problem={kind === 'url' ? texts.payload : undefined}
        value={kind === 'url' ? typed('link') || typed('payload') : typed('link')}
        attributes={{
          ...{ ...UNTOUCHED, inputmode: 'url', placeholder: 'https://', dir: 'ltr' },
          autofocus: starts('url'),
        }}
      />
    </div>
  )
}
