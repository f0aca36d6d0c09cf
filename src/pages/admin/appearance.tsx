// The card on the administration page in which an administrator sets the name, contact and notice of the
// server.

import { APPEARANCE_FIELDS, type AppearanceField, MOST_OF_APPEARANCE } from '../../domain/appearance.ts'
import { PAGES } from '../../http/urls.ts'
import type { Appearances } from '../../operating/appearance.ts'
import { Input, maxLengthOf, RefusedFields, readFields } from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Card, withFlag } from '../frame/parts.tsx'
import { PostForm } from '../frame/post-form.tsx'

type AppearanceProps = { guest: Member; appearance: Appearances; refused: RefusedForm | null }

export function AppearanceCard({ guest, appearance, refused }: AppearanceProps) {
  const { words, say } = guest
  const { started, fixedBy, kept } = appearance
  const { texts, field } = readFields(refused, words, kept())
  return (
    <Card id="appearance" title={say('appearance_title')}>
      <RefusedFields problems={texts} words={words} />
      <PostForm guest={guest} action={PAGES.changeAppearance.href()}>
        {APPEARANCE_FIELDS.map((name) => {
          const flag = fixedBy(name)
          if (flag !== null)
            return <FixedInput {...{ guest, name, flag }} value={started[name]} problem={texts[name]} />
          return (
            <Input
              {...field(name)}
              label={say(`appearance_${name}`)}
              hint={say(`appearance_${name}_hint`)}
              attributes={{
                maxlength: maxLengthOf(MOST_OF_APPEARANCE[name]),
                autocomplete: 'off',
                placeholder: started[name] ?? '',
              }}
            />
          )
        })}
        {APPEARANCE_FIELDS.some((name) => fixedBy(name) === null) && (
          <button type="submit">{say('edit_submit')}</button>
        )}
      </PostForm>
    </Card>
  )
}

type FixedProps = {
  guest: Member
  name: AppearanceField
  /** The flag or variable that sets it. */
  flag: string
  value: string | null
  /** The problem if a client sent the field although it is fixed. */
  problem: string | undefined
}

function FixedInput({ guest: { say }, name, flag, value, problem }: FixedProps) {
  return (
    <Input
      {...{ id: name, name, value: value ?? '', problem }}
      label={say(`appearance_${name}`)}
      hint={withFlag(say('appearance_fixed'), flag)}
      attributes={{ disabled: true }}
    />
  )
}

/** Returns the fields that were sent. Browsers do not send disabled fields; a missing one stays unchanged. */
export function readAppearance({ fields }: Form): Partial<Record<AppearanceField, string>> {
  const isField = (name: string) => APPEARANCE_FIELDS.some((field) => field === name)
  return Object.fromEntries(fields.filter(([name]) => isField(name)))
}
