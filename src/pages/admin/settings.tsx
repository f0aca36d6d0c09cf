// The settings in effect on the administration page: first those that were changed, then the defaults,
// folded.

import { APPEARANCE_FIELDS } from '../../domain/appearance.ts'
import { PAGES } from '../../http/urls.ts'
import { APPEARANCE_FLAGS, type Appearances } from '../../operating/appearance.ts'
import type { Member } from '../frame/guest.ts'
import { Table } from '../frame/lists.tsx'
import { Card } from '../frame/parts.tsx'

/**
 * A setting in effect, and where its value comes from: `default`, a flag, a variable or a page. Secrets are
 * hidden.
 */
export type SettingInEffect = { flag: string; value: string; from: string; help: string }

/**
 * Replaces each default that an administrator has changed on the page. A flag or variable wins over the page.
 */
export function withAppearance(
  settings: readonly SettingInEffect[],
  { kept }: Appearances,
): SettingInEffect[] {
  return settings.map((setting) => {
    const field = APPEARANCE_FIELDS.find((name) => APPEARANCE_FLAGS[name] === setting.flag)
    const value = field === undefined || setting.from !== 'default' ? null : kept()[field]
    return value === null ? setting : { ...setting, value, from: PAGES.admin.href() }
  })
}

type SettingsProps = { guest: Member; settings: readonly SettingInEffect[] }

export function Settings({ guest, settings }: SettingsProps) {
  const { say } = guest
  const changed = settings.filter(({ from }) => from !== 'default')
  const defaults = settings.filter(({ from }) => from === 'default')
  return (
    <Card id="settings" title={say('admin_settings')}>
      <p class="hint">{say('admin_settings_hint')}</p>
      {changed.length === 0 ? (
        <p>{say('settings_unchanged')}</p>
      ) : (
        <SettingsTable guest={guest} settings={changed} />
      )}
      <details>
        <summary>{say('settings_default', { n: defaults.length })}</summary>
        <SettingsTable guest={guest} settings={defaults} />
      </details>
    </Card>
  )
}

function SettingsTable({ guest: { say }, settings }: SettingsProps) {
  return (
    <Table
      isCode
      heads={[say('setting'), say('setting_value'), say('setting_from')]}
      rows={settings.map(({ flag, value, from, help }) => [
        [<span lang="en">{help}</span>, ' ', <code>--{flag}</code>],
        value,
        from === 'default' ? say('setting_default') : <code>{from}</code>,
      ])}
    />
  )
}
