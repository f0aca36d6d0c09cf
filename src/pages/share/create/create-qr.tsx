// The fields of a QR code: a text, or a Wi-Fi network. A script draws the code while it is typed.

import { MAX_QR_CHARACTERS } from '../../../domain/new-push.ts'
import { Field, Input, Tick } from '../../frame/fields.tsx'
import { Icon } from '../../frame/icons.tsx'
import { WIFI_STANDARDS, WIFI_TYPES } from '../../frame/wifi-text.ts'
import type { PartProps } from './create-props.ts'

const CONTENTS = [
  ['text', 'kind_text'],
  ['wifi', 'wifi'],
] as const

/** For a secret in one line: no browser changes it or keeps it. */
const UNTOUCHED = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', 'data-secret': true }

export function CreateQr(props: PartProps) {
  const { words, createScripts } = props
  const { say } = words
  return (
    <div class="qr-fields" data-kind="qr">
      <div>
        <QrContents {...props} />
        <QrText {...props} />
        <Wifi {...props} />
      </div>
      <figure class="preview" hidden data-preview={createScripts.qrPreview} data-unfit={say('qr_too_long')}>
        <div data-drawn role="img" aria-label={say('qr_preview')} />
        <figcaption class="hint">{say('qr_preview')}</figcaption>
      </figure>
    </div>
  )
}

function QrContents({ words: { say }, typed }: PartProps) {
  const chosen = typed('qr_content') === 'wifi' ? 'wifi' : 'text'
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">{say('payload_qr')}</legend>
      <div class="picks">
        {CONTENTS.map(([value, word]) => (
          <label class="pick">
            <input
              type="radio"
              id={`qr-${value}`}
              name="push[qr_content]"
              value={value}
              checked={value === chosen}
            />
            {value === 'wifi' ? <Icon name="wifi" /> : null}
            {say(word)}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function QrText({ words: { say }, kind, typed, texts, starts }: PartProps) {
  const isWifi = typed('qr_content') === 'wifi'
  const limit = say('payload_qr_limit', { n: MAX_QR_CHARACTERS })
  return (
    <div data-content="text">
      <Field
        id="qr"
        label={say('payload_qr')}
        hint={limit}
        problem={kind === 'qr' && !isWifi ? texts.payload : undefined}
      >
        {(describes) => (
          <textarea
            name="push[qr]"
            rows={3}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            autofocus={starts('qr') && !isWifi}
            data-secret
            data-max-characters={MAX_QR_CHARACTERS}
            data-too-long={limit}
            {...describes}
          >
            {kind === 'qr' ? typed('qr') || typed('payload') : typed('qr')}
          </textarea>
        )}
      </Field>
    </div>
  )
}

function Wifi({ words, kind, typed, texts, starts }: PartProps) {
  const { say } = words
  const isWifi = typed('qr_content') === 'wifi'
  const trouble = texts.wifi_network ?? (kind === 'qr' && isWifi ? texts.payload : undefined)
  return (
    <div data-content="wifi" class="wifi">
      <Input
        id="wifi_network"
        name="push[wifi_network]"
        label={say('wifi_network')}
        problem={trouble}
        value={typed('wifi_network')}
        attributes={{ ...UNTOUCHED, autofocus: starts('qr') && isWifi }}
      />
      <div data-wifi-password>
        <Input
          id="wifi_password"
          name="push[wifi_password]"
          label={say('wifi_password')}
          problem={texts.wifi_password}
          value={typed('wifi_password')}
          attributes={UNTOUCHED}
        />
      </div>
      <WifiTypes words={words} chosen={typed('wifi_type')} />
      <Tick
        id="wifi_hidden"
        name="push[wifi_hidden]"
        label={say('wifi_hidden')}
        isTicked={typed('wifi_hidden') === 'true'}
      />
    </div>
  )
}

function WifiTypes({ words: { say }, chosen }: Pick<PartProps, 'words'> & { chosen: string }) {
  return (
    <fieldset class="choice">
      <legend>{say('wifi_type')}</legend>
      <div class="picks">
        {WIFI_TYPES.map((type) => (
          <label class="pick">
            <input
              type="radio"
              id={`wifi-${type}`}
              name="push[wifi_type]"
              value={type}
              checked={type === (chosen || 'WPA')}
            />
            {WIFI_STANDARDS[type] ?? say('wifi_open')}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
