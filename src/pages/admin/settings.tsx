// The settings on the administration page: first those that somebody set, the rest folded.

import type { Member } from '../frame/guest.ts'

/** A setting in effect, without secrets, and where its value comes from. */
export type SettingInEffect = { flag: string; value: string; from: string; help: string }

type SettingsProps = { guest: Member; settings: readonly SettingInEffect[] }

export function Settings({ guest, settings }: SettingsProps) {
  const { say } = guest.words
  const changed = settings.filter(({ from }) => from !== 'default')
  const others = settings.filter(({ from }) => from === 'default')
  return (
    <section class="card" aria-labelledby="settings-title">
      <h2 id="settings-title">{say('admin_settings')}</h2>
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
    </section>
  )
}

function SettingsTable({ guest, settings }: SettingsProps) {
  const { say } = guest.words
  return (
    <table class="stacks" dir="ltr">
      <thead>
        <tr>
          <th scope="col">{say('setting')}</th>
          <th scope="col">{say('setting_value')}</th>
          <th scope="col">{say('setting_from')}</th>
        </tr>
      </thead>
      <tbody>
        {settings.map(({ flag, value, from, help }) => (
          <tr>
            <th scope="row" title={help}>
              <code>--{flag}</code>
            </th>
            <td data-label={say('setting_value')}>{value}</td>
            <td data-label={say('setting_from')}>
              {from === 'default' ? say('setting_default') : <code>{from}</code>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
