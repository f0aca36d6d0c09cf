// Forms that change state, and their buttons.

import type { Guest } from './guest.ts'
import type { Children } from './html.ts'

type PostFormProps = {
  guest: Guest
  /** A path of urls.ts. */
  action: string
  /** The hidden fields, by name. */
  hidden?: Readonly<Record<string, string | number>>
  look?: string
  /** Whether a script ignores a second press of the button. */
  isOnce?: boolean
  /** Additional HTML attributes. */
  attributes?: Readonly<Record<string, string | boolean>>
  children: Children
}

/** A form that changes state, with the session's CSRF token. */
export function PostForm({ guest, action, hidden = {}, look, isOnce = false, ...more }: PostFormProps) {
  return (
    <form method="post" action={guest.href(action)} class={look} data-once={isOnce} {...more.attributes}>
      {guest.session && <input type="hidden" name="form" value={guest.session.formToken} />}
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {more.children}
    </form>
  )
}

type SubmitProps = {
  look?: 'primary' | 'primary large' | 'quiet' | 'danger'
  label?: string | undefined
  children: Children
}

/** The submit button. `label` is a longer text for screen readers. */
export function Submit({ look = 'primary', label, children }: SubmitProps) {
  return (
    <button type="submit" class={look} aria-label={label}>
      {children}
    </button>
  )
}

type ButtonFormProps = Omit<PostFormProps, 'children' | 'look'> & {
  look?: SubmitProps['look']
  label: string
  /** The object of the label, for screen readers. */
  about?: string
}

/** A form that consists of one button. */
export function ButtonForm({ look = 'quiet', label, about, ...form }: ButtonFormProps) {
  const { say } = form.guest.words
  return (
    <PostForm {...form}>
      <Submit look={look} label={about === undefined ? undefined : say('labelled', { label, text: about })}>
        {label}
      </Submit>
    </PostForm>
  )
}
