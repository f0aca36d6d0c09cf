// The network, password and security that an opened QR code for Wi-Fi holds, for devices that have no camera.

import type { WordKey } from '../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { CopyButton } from '../frame/parts.tsx'
import { WIFI_STANDARDS, type Wifi } from '../frame/wifi-text.ts'
import { exact } from './revealed-text.tsx'

export function RevealedWifi({ guest, wifi }: { guest: Guest; wifi: Wifi }) {
  const { say } = guest.words
  return (
    <>
      <dl class="facts wifi-facts">
        <Copyable guest={guest} id="wifi-network" name="wifi_network" value={wifi.network} />
        {wifi.password === '' ? null : (
          <Copyable guest={guest} id="wifi-password" name="wifi_password" value={wifi.password} />
        )}
        <Fact label={say('wifi_type')}>
          <span>{WIFI_STANDARDS[wifi.type] ?? say('wifi_open')}</span>
        </Fact>
      </dl>
      {wifi.isHidden ? <p class="hint">{say('wifi_hidden')}</p> : null}
    </>
  )
}

type CopyableProps = { guest: Guest; id: string; name: WordKey; value: string }

function Copyable({ guest, id, name, value }: CopyableProps) {
  const { say } = guest.words
  return (
    <Fact label={say(name)}>
      <code id={id} dir="auto" {...exact(value)}>
        {value}
      </code>
      <CopyButton
        target={id}
        guest={guest}
        label={say('copy_named', { name: say(name) })}
        look="bare square"
      />
    </Fact>
  )
}

function Fact({ label, children }: { label: string; children: Children }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}
