// The fields of a QR code, and of a Wi-Fi network, which becomes one. A script previews the code while it is
// typed.

import { MAX_QR_CHARACTERS } from '../../../domain/new-push.ts'
import type { Words } from '../../../words/words.ts'
import { Input, TextArea, Tick } from '../../frame/fields.tsx'
import { UNTOUCHED } from '../../frame/push-fields.tsx'
import { WIFI_STANDARDS, WIFI_TYPES } from '../../frame/wifi-text.ts'
import { Choice } from './choice.tsx'
import type { PartProps } from './create-props.ts'

export function CreateQr(props: PartProps) {
  const { words, createScripts } = props
  const { say } = words
  return (
    <div class="qr-fields" data-kind="qr wifi">
      <div>
        <QrText {...props} />
        <Wifi {...props} />
      </div>
      <figure class="preview empty" data-preview={createScripts.qrPreview} data-unfit={say('qr_too_long')}>
        <div data-drawn role="img" aria-label={say('qr_preview')} />
        <figcaption class="hint">{say('qr_preview')}</figcaption>
      </figure>
    </div>
  )
}

function QrText({ words: { say }, kind, typed, texts, starts }: PartProps) {
  const limit = say('payload_qr_limit', { n: MAX_QR_CHARACTERS })
  return (
    <div data-kind="qr">
      <TextArea
        id="qr"
        name="push[qr]"
        label={say('payload_qr')}
        hint={limit}
        problem={kind === 'qr' ? texts.payload : undefined}
        value={kind === 'qr' ? typed('qr') || typed('payload') : typed('qr')}
        attributes={{
          ...{ rows: 3, ...UNTOUCHED, autofocus: starts('qr') },
          ...{ 'data-max-characters': MAX_QR_CHARACTERS, 'data-too-long': limit },
        }}
      />
    </div>
  )
}

function Wifi({ words, kind, typed, texts, field, starts }: PartProps) {
  const { say } = words
  const trouble = texts.wifi_network ?? (kind === 'wifi' ? texts.payload : undefined)
  return (
    <div data-kind="wifi" class="wifi">
      <div class="pair">
        <Input
          {...field('wifi_network')}
          label={say('wifi_network')}
          problem={trouble}
          attributes={{ ...UNTOUCHED, autofocus: starts('wifi') }}
        />
        <div data-wifi-password>
          <Input {...field('wifi_password')} label={say('wifi_password')} attributes={UNTOUCHED} />
        </div>
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

function WifiTypes({ words: { say }, chosen }: { words: Words; chosen: string }) {
  const picks = WIFI_TYPES.map((type) => ({
    id: `wifi-${type}`,
    value: type,
    label: WIFI_STANDARDS[type] ?? say('wifi_open'),
    isChosen: type === (chosen || 'WPA'),
  }))
  return <Choice legend={say('wifi_type')} name="push[wifi_type]" picks={picks} />
}
