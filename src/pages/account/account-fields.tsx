// The fields of accounts: e-mail address, passwords, and the code of a second factor.

import { MIN_PASSWORD_LENGTH } from '../../domain/account.ts'
import type { WordKey, Words } from '../../words/words.ts'
import { Input, type InputProps } from '../frame/fields.tsx'
import type { Member } from '../frame/guest.ts'

type SecretProps = { words: Words; id?: string; problem?: string | undefined }

/** The field for the current password of an account. */
export function PasswordInput({
  words,
  id = 'password',
  problem,
  ...more
}: SecretProps & { label?: string; name?: string; autofocus?: boolean }) {
  const { label = words.say('password_current'), name = 'password', autofocus = false } = more
  const attributes = { autocomplete: 'current-password', required: true, autofocus }
  return <Input {...{ id, name, label, problem, attributes }} type="password" />
}

/** Tells the password manager of a browser whose password is asked for. */
export function UserName({ guest: { account } }: { guest: Member }) {
  return <input type="hidden" name="username" value={account.email} autocomplete="username" />
}

/** The field for a new password. */
export function NewPasswordInput({ words, problem }: SecretProps) {
  return (
    <Input
      id="password"
      name="password"
      type="password"
      label={words.say('password_new')}
      hint={words.say('password_hint', { n: MIN_PASSWORD_LENGTH })}
      problem={problem}
      attributes={{ autocomplete: 'new-password', required: true, minlength: MIN_PASSWORD_LENGTH }}
    />
  )
}

/** The field for a code of a second factor. */
export function CodeInput({
  words,
  id = 'code',
  problem,
  hint = 'code_hint',
  attributes,
}: SecretProps & Pick<InputProps, 'attributes'> & { hint?: WordKey }) {
  return (
    <Input
      id={id}
      name="code"
      label={words.say('code')}
      hint={words.say(hint)}
      problem={problem}
      attributes={{ autocomplete: 'one-time-code', required: true, ...attributes }}
    />
  )
}

export function EmailInput({
  words,
  ...field
}: { words: Words } & Omit<InputProps, 'id' | 'name' | 'label'>) {
  return <Input id="email" name="email" type="email" label={words.say('email')} {...field} />
}
