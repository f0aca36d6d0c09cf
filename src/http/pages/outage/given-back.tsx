// The page with a form that is given back: what happened, what to do, and the fields as they were typed.

import type { WordKey } from '../../../words/words.ts'
import { EmblemCard } from '../frame/emblem-card.tsx'
import type { Guest } from '../frame/guest.ts'
import { Field, Input, RefusedNotice, Tick } from '../frame/parts.tsx'
import { PassphraseInput } from '../frame/passphrase-input.tsx'
import type { TypedField, TypedForm } from './typed-forms.ts'

export type GivenBackProps = {
  guest: Guest
  title: string
  form: TypedForm
  fields: readonly TypedField[]
  /** The other fields that were sent. */
  hidden: readonly (readonly [name: string, value: string])[]
  textOf: (name: string) => string
  happened: WordKey
  /** Whether nobody knows if the form took effect. */
  isInDoubt: boolean
  /** Whether a typed text is in the form again. */
  comesBack: boolean
  /** Whether a password or a code has to be typed again. */
  asksAgain: boolean
}

export function GivenBack(props: GivenBackProps) {
  const { title, form } = props
  const page = (
    <>
      <h1>{title}</h1>
      <WhyGivenBack {...props} />
      <TypedAgain {...props} />
    </>
  )
  return form.onSecretLink === undefined ? page : <EmblemCard icon="hourglass">{page}</EmblemCard>
}

function WhyGivenBack({ guest, form, happened, isInDoubt, comesBack, asksAgain }: GivenBackProps) {
  const { say } = guest.words
  const unchanged = form.onSecretLink === 'opens' ? 'receive_outage' : 'outage_unchanged'
  const doubted = form.onSecretLink === 'opens' ? 'receive_outage_doubt' : 'outage_doubt'
  return (
    <RefusedNotice>
      <p>
        {say(happened)} {form.isSearch ? null : <strong>{say(isInDoubt ? doubted : unchanged)}</strong>}
      </p>
      <p>
        {say(comesBack ? 'outage_again' : 'outage_retry')} {asksAgain ? say('outage_secrets') : null}
      </p>
    </RefusedNotice>
  )
}

function TypedAgain({ guest, form, fields, hidden, textOf }: GivenBackProps) {
  const { say } = guest.words
  const button = form.onSecretLink === undefined ? 'primary' : 'primary large'
  return (
    <form
      method={form.isSearch ? 'get' : 'post'}
      action={form.isSearch ? `${guest.basePath}${guest.path}` : guest.href(guest.path)}
      class="narrow"
      data-once
    >
      {hidden.map(([name, value], at) => (
        <input key={at} type="hidden" name={name} value={value} />
      ))}
      {fields.map((field) => (
        <AgainField key={field.name} guest={guest} field={field} value={textOf(field.name)} />
      ))}
      <button type="submit" class={form.onSecretLink === 'deletes' ? 'danger' : button}>
        {say(form.submit)}
      </button>
    </form>
  )
}

function AgainField({ guest: { words }, field, value }: { guest: Guest; field: TypedField; value: string }) {
  const { name } = field
  const label = words.say(field.label)
  const shown = { id: name, name, label }
  switch (field.is) {
    case 'tick':
      return <Tick {...shown} isTicked={value !== ''} />
    case 'lines':
      return (
        <Field id={name} label={label}>
          {(describes) => (
            // HTML drops the first line end of a text.
            <textarea name={name} rows={8} autocomplete="off" {...describes}>
              {`\n${value}`}
            </textarea>
          )}
        </Field>
      )
    case 'choice':
      return (
        <Field id={name} label={label}>
          {(describes) => (
            <select name={name} {...describes}>
              {field.options(words).map(([option, text]) => (
                <option key={option} value={option} selected={option === value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      )
    case 'passphrase':
      return <PassphraseInput {...shown} words={words} value={value} attributes={{ autocomplete: 'off' }} />
    case 'password':
      return secretInput('password', 'current-password')
    case 'new-password':
      return secretInput('password', 'new-password')
    case 'code':
      return secretInput('text', 'one-time-code')
    case 'email':
      return <Input {...shown} type="email" value={value} attributes={{ autocomplete: 'username' }} />
    case 'number':
      return <Input {...shown} type="number" value={value} attributes={{ inputmode: 'numeric' }} />
    case 'line':
      return <Input {...shown} value={value} attributes={{ autocomplete: 'off' }} />
  }

  function secretInput(type: 'password' | 'text', autocomplete: string) {
    return <Input {...shown} type={type} attributes={{ autocomplete, required: true }} />
  }
}
