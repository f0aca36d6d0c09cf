// The settings on the administration page: first those that somebody set, the rest folded.

import type { Member } from '../frame/guest.ts'
import { Table } from '../frame/lists.tsx'
import { Card } from '../frame/parts.tsx'

/** A setting in effect, without secrets, and where its value comes from. */
export type SettingInEffect = { flag: string; value: string; from: string; help: string }

type SettingsProps = { guest: Member; settings: readonly SettingInEffect[] }

export function Settings({ guest, settings }: SettingsProps) {
  const { say } = guest
  const changed = settings.filter(({ from }) => from !== 'default')
  const others = settings.filter(({ from }) => from === 'default')
  return (
    <Card id="settings" title={say('admin_settings')}>
      <p class="hint">{say('admin_settings_hint')}</p>
      {changed.length === 0 ? (
        <p>{say('settings_unchanged')}</p>
      ) : (
        <SettingsTable guest={guest} settings={changed} />
      )}
      <details>
        <summary>{say('settings_default', { n: others.length })}</summary>
        <SettingsTable guest={guest} settings={others} />
      </details>
    </Card>
  )
}

function SettingsTable({ guest, settings }: SettingsProps) {
  const { say } = guest
  return (
    <Table
      isCode
      heads={[say('setting'), say('setting_value'), say('setting_from')]}
      rows={settings.map(({ flag, value, from, help }) => [
        <code title={help}>--{flag}</code>,
        value,
        from === 'default' ? say('setting_default') : <code>{from}</code>,
      ])}
    />
  )
}
