// The name, contact and notice of the server on the administration page, where what is fixed at the start
// cannot be changed, and the settings: first those that somebody set, the rest folded.

import { APPEARANCE_FIELDS, type AppearanceField, MOST_OF_APPEARANCE } from '../../domain/appearance.ts'
import { PAGES } from '../../http/urls.ts'
import { APPEARANCE_FLAGS, type Appearances } from '../../operating/appearance.ts'
import { Input, maxLengthOf, RefusedFields, readFields } from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Table } from '../frame/lists.tsx'
import { Card, withFlag } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'

type AppearanceProps = { guest: Member; appearance: Appearances; refused: RefusedForm | null }

export function AppearanceCard({ guest, appearance, refused }: AppearanceProps) {
  const { words, say } = guest
  const { started, fixedBy, inEffect, kept } = appearance
  const { texts, field: fieldOf } = readFields(refused, words, kept())
  return (
    <Card id="appearance" title={say('appearance_title')}>
      <RefusedFields problems={texts} words={words} />
      <PostForm guest={guest} action={PAGES.changeAppearance.href()}>
        {APPEARANCE_FIELDS.map((field) => {
          const fixed = fixedBy(field)
          return (
            <Input
              {...fieldOf(field)}
              label={say(`appearance_${field}`)}
              hint={
                fixed === null ? say(`appearance_${field}_hint`) : withFlag(say('appearance_fixed'), fixed)
              }
              {...(fixed === null ? {} : { value: inEffect()[field] ?? '' })}
              attributes={{
                maxlength: maxLengthOf(MOST_OF_APPEARANCE[field]),
                disabled: fixed !== null,
                autocomplete: 'off',
                ...(field === 'name' ? { placeholder: started.name } : {}),
              }}
            />
          )
        })}
        {APPEARANCE_FIELDS.some((field) => fixedBy(field) === null) && (
          <button type="submit">{say('edit_submit')}</button>
        )}
      </PostForm>
    </Card>
  )
}

/**
 * The fields that the form has: those that are fixed were not sent, and one that is missing stays as it is.
 */
export function readAppearance({ fields }: Form): Partial<Record<AppearanceField, string>> {
  const isField = (name: string): name is AppearanceField => APPEARANCE_FIELDS.some((field) => field === name)
  return Object.fromEntries(fields.filter(([name]) => isField(name)))
}

/** The settings, with what was set on the page in place of a default. */
export function withAppearance(
  settings: readonly SettingInEffect[],
  { kept, fixedBy }: Appearances,
): SettingInEffect[] {
  return settings.map((setting) => {
    const field = APPEARANCE_FIELDS.find((name) => APPEARANCE_FLAGS[name] === setting.flag)
    const value = field === undefined || fixedBy(field) !== null ? null : kept()[field]
    return value === null ? setting : { ...setting, value, from: PAGES.admin.href() }
  })
}

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
