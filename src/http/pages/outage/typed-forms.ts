// Every small form that a person types something into, with what it takes to show it again while the store is away. The names
// of the fields are those on its page. The form that creates a push gives itself back.

import type { WordKey, Words } from '../../../words/words.ts'
import { type Endpoint, PAGES } from '../../urls.ts'
import type { Form } from '../frame/form.ts'
import { ENDS_IN, sayLength } from '../owner/edit-form.ts'

/** The typed text comes back. Passwords and codes never do. */
export type TypedField = { name: string; label: WordKey } & (
  | { is: 'line' | 'email' | 'number' | 'lines' | 'passphrase' | 'tick' }
  | { is: 'choice'; options: (words: Words) => readonly (readonly [value: string, text: string])[] }
  | { is: 'password' | 'new-password' | 'code' }
)

export type TypedForm = {
  title: WordKey | ((sent: Form) => WordKey)
  fields: readonly TypedField[]
  submit: WordKey
  /** Sent in the address of the page that it is on. */
  isSearch?: boolean
  /** Is on the page of a secret link, and opens or deletes the push. */
  onSecretLink?: 'opens' | 'deletes'
}

const EMAIL: TypedField = { name: 'email', is: 'email', label: 'email' }
const NEW_PASSWORD: TypedField = { name: 'password', is: 'new-password', label: 'password_new' }
/** Asked for by the form itself, or in between by the page that confirms who sends it. */
export const PASSWORD: TypedField = { name: 'password', is: 'password', label: 'password_current' }
export const CODE: TypedField = { name: 'code', is: 'code', label: 'code' }

const REVEAL: TypedForm = {
  title: 'receive_title',
  fields: [{ name: 'passphrase', is: 'passphrase', label: 'passphrase' }],
  submit: 'receive_submit',
  onSecretLink: 'opens',
}

const CHOOSE_END: TypedField = {
  name: 'ends_in',
  is: 'choice',
  label: 'edit_expires',
  options: (words) => [
    ['', words.say('edit_keep_as_now')],
    ...ENDS_IN.map((end) => [String(end), words.say('edit_in', { time: sayLength(end, words) })] as const),
  ],
}

/** For a form whose page only asks to confirm who sends it. */
export const CONFIRMATION: TypedForm = { title: 'confirm_title', fields: [], submit: 'confirm_submit' }

const SEARCH: TypedForm = {
  title: 'search',
  fields: [{ name: 'q', is: 'line', label: 'pushes_search' }],
  submit: 'search',
  isSearch: true,
}

export const TYPED_FORMS: ReadonlyMap<Endpoint, TypedForm> = new Map<Endpoint, TypedForm>([
  [PAGES.pushes, SEARCH],
  [PAGES.admin, { ...SEARCH, fields: [{ name: 'q', is: 'line', label: 'email' }] }],
  [PAGES.reveal, REVEAL],
  [PAGES.revealStep, REVEAL],
  [
    PAGES.expire,
    {
      title: 'delete_now',
      fields: [],
      submit: 'delete_submit',
      onSecretLink: 'deletes',
    },
  ],
  [
    PAGES.submitSignIn,
    {
      title: 'sign_in_title',
      fields: [EMAIL, { name: 'password', is: 'password', label: 'password' }],
      submit: 'nav_sign_in',
    },
  ],
  [PAGES.submitCode, { title: 'code_title', fields: [CODE], submit: 'nav_sign_in' }],
  [PAGES.submitSignUp, { title: 'sign_up_title', fields: [EMAIL, NEW_PASSWORD], submit: 'welcome_submit' }],
  [
    PAGES.submitWelcome,
    {
      title: (sent) => WELCOMES.get(sent.text('purpose')) ?? 'sign_up_title',
      fields: [EMAIL, NEW_PASSWORD],
      submit: 'welcome_submit',
    },
  ],
  [
    PAGES.editPush,
    {
      title: 'push_edit',
      fields: [
        { name: 'name', is: 'line', label: 'name' },
        { name: 'note', is: 'lines', label: 'note' },
        CHOOSE_END,
        { name: 'views', is: 'number', label: 'edit_views' },
      ],
      submit: 'edit_submit',
    },
  ],
  [
    PAGES.createToken,
    {
      title: 'token_new',
      fields: [{ name: 'name', is: 'line', label: 'token_name' }],
      submit: 'token_create',
    },
  ],
  [
    PAGES.changePassword,
    {
      title: 'password_title',
      fields: [
        { name: 'current', is: 'password', label: 'password_current' },
        NEW_PASSWORD,
        { name: 'revoke', is: 'tick', label: 'password_revoke' },
      ],
      submit: 'password_submit',
    },
  ],
  [
    PAGES.keepMessage,
    {
      title: 'message_title',
      fields: [{ name: 'message', is: 'lines', label: 'message_field' }],
      submit: 'message_save',
    },
  ],
  [
    PAGES.turnOnTwoFactor,
    { title: 'two_factor_setup', fields: [CODE, PASSWORD], submit: 'two_factor_turn_on' },
  ],
  [PAGES.turnOffTwoFactor, { title: 'two_factor_title', fields: [PASSWORD], submit: 'two_factor_turn_off' }],
  [
    PAGES.invite,
    {
      title: 'admin_invite',
      fields: [EMAIL, { name: 'is_admin', is: 'tick', label: 'admin_invite_admin' }],
      submit: 'admin_invite_submit',
    },
  ],
])

/** By the purpose of the link, which its form sends with it. */
const WELCOMES: ReadonlyMap<string, WordKey> = new Map([
  ['setup', 'setup_title'],
  ['invite', 'invite_title'],
  ['reset', 'reset_title'],
])
