// Form fields for accounts: e-mail address, passwords, and the code of a second factor.

import { MIN_PASSWORD_LENGTH } from '../../domain/account.ts'
import type { WordKey, Words } from '../../words/words.ts'
import { Eye, Input, type InputProps } from '../frame/fields.tsx'
import type { Guest, Member } from '../frame/guest.ts'

type SecretProps = { words: Words; id?: string; problem?: string | undefined }

/** The field for the current password of an account. */
export function PasswordInput(props: SecretProps & { label?: string; name?: string; autofocus?: boolean }) {
  const { words, id = 'password', problem, ...more } = props
  const { label = words.say('password_current'), name = 'password', autofocus = false } = more
  const attributes = { autocomplete: 'current-password', required: true, autofocus }
  const trailing = <PasswordEye words={words} controls={id} />
  return <Input {...{ id, name, label, problem, attributes, trailing }} type="password" />
}

/** The hidden field by which a browser's password manager finds the account. */
export function UserName({ guest: { account } }: { guest: Member }) {
  return <input type="hidden" name="username" value={account.email} autocomplete="username" />
}

/**
 * The button that shows the password; hidden without scripts. It changes the type of the field, because
 * browsers save passwords only from password fields.
 */
function PasswordEye({ words, controls }: { words: Words; controls: string }) {
  return (
    <span hidden data-reveals={controls}>
      <Eye words={words} controls={controls} />
    </span>
  )
}

type NewPasswordProps = { guest: Guest; problem: string | undefined; autofocus?: boolean }

/** The field for a new password. The script `strength` rates the password below it. */
export function NewPasswordInput({ guest, problem, autofocus = false }: NewPasswordProps) {
  const { words, brand, say } = guest
  return (
    <div>
      <Input
        id="password"
        name="password"
        type="password"
        label={say('password_new')}
        hint={say('password_hint', { n: MIN_PASSWORD_LENGTH })}
        problem={problem}
        trailing={<PasswordEye words={words} controls="password" />}
        attributes={{
          ...{ autocomplete: 'new-password', required: true, minlength: MIN_PASSWORD_LENGTH },
          autofocus,
        }}
      />
      <p
        class="how-strong hint"
        hidden
        data-strength
        data-instance={brand.name}
        data-weak={say('strength_weak')}
        data-fair={say('strength_fair')}
        data-strong={say('strength_strong')}
      >
        <meter min={0} max={5} low={4} high={5} optimum={5} aria-hidden="true" />
        <output for="password" />
      </p>
    </div>
  )
}

/** The field for a code of a second factor. */
export function CodeInput(props: SecretProps & Pick<InputProps, 'attributes'> & { hint?: WordKey }) {
  const { words, id = 'code', problem, hint = 'code_hint', attributes } = props
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

/** Returns the hint for an account: without an authenticator app only its recovery codes are left. */
export function codeHintOf(account: { hasAuthenticator: boolean } | undefined): WordKey {
  return account?.hasAuthenticator === false ? 'code_hint_recovery' : 'code_hint'
}

type EmailProps = { words: Words } & Omit<InputProps, 'id' | 'name' | 'label' | 'type'>

export function EmailInput({ words, attributes, ...field }: EmailProps) {
  const all = { autocomplete: 'username', required: true, ...attributes }
  return <Input id="email" name="email" type="email" label={words.say('email')} attributes={all} {...field} />
}
