// The name, contact and notice of the server on the administration page. What is fixed at the start is shown and cannot be changed.

import { APPEARANCE_FIELDS, type AppearanceField, MOST_OF_APPEARANCE } from '../../domain/appearance.ts'
import { PAGES } from '../../http/urls.ts'
import { APPEARANCE_FLAGS, type Appearances } from '../../operating/appearance.ts'
import type { WordKey } from '../../words/words.ts'
import { Input, maxLengthOf, RefusedFields, readFields } from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Card, withFlag } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'
import type { SettingInEffect } from './settings.tsx'

type AppearanceProps = { guest: Member; appearance: Appearances; refused: RefusedForm | null }

const LABELS: Record<AppearanceField, { label: WordKey; hint: WordKey }> = {
  name: { label: 'appearance_name', hint: 'appearance_name_hint' },
  contact: { label: 'appearance_contact', hint: 'appearance_contact_hint' },
  notice: { label: 'appearance_notice', hint: 'appearance_notice_hint' },
}

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
              label={say(LABELS[field].label)}
              hint={fixed === null ? say(LABELS[field].hint) : withFlag(say('appearance_fixed'), fixed)}
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

/** The fields that the form has: those that are fixed were not sent, and one that is missing stays as it is. */
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
