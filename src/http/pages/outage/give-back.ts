// Gives a form back as it was typed when the store does not answer, so that it can be sent again. Needs no store itself.

import type { Endpoint } from '../../urls.ts'
import type { Form } from '../frame/form.ts'
import type { Guest } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { explainOutage, type OutageError } from './explain-outage.ts'
import { GivenBack } from './given-back.tsx'
import { CODE, CONFIRMATION, PASSWORD, TYPED_FORMS, type TypedField, type TypedForm } from './typed-forms.ts'

export type Sent = { url: Endpoint; guest: Guest; form: Form; cause: OutageError }

/** Null for a form in which nothing was typed: its error page says enough. */
export type GiveBack = (sent: Sent) => Response | null

/** More fields than any form of these pages has. */
const MAX_HIDDEN = 50

const SECRETS: ReadonlySet<TypedField['is']> = new Set(['password', 'new-password', 'code'])

export function createGiveBack(answer: AnswerGuest): GiveBack {
  return ({ url, guest, form, cause }) => {
    const confirming = url.method === 'GET' ? [] : [PASSWORD, CODE].filter(({ name }) => has(form, name))
    const typed = TYPED_FORMS.get(url) ?? (confirming.length === 0 ? null : CONFIRMATION)
    if (typed === null) return null
    const fields = fieldsOf(typed, { form, confirming })
    if (typed.isSearch && fields.every(({ name }) => form.text(name) === '')) return null
    const { status, headers, happened } = explainOutage(cause)
    const title = guest.words.say(typeof typed.title === 'string' ? typed.title : typed.title(form))
    const content = GivenBack({
      guest,
      title,
      form: typed,
      fields,
      hidden: hiddenIn(form, { fields, nonce: cause.details.nonce }),
      textOf: form.text,
      happened,
      isInDoubt: cause.details.isInDoubt === true,
      comesBack: fields.some(({ is }) => !SECRETS.has(is)),
      asksAgain: fields.some(({ is }) => SECRETS.has(is)),
    })
    const frame = typed.onSecretLink === undefined ? 'branded' : 'plain'
    // Another language would be asked for with GET, which has nothing of the form.
    const page = { guest, title, status, headers, frame, languageSwitch: false } as const
    return answer(content, { ...page, width: 'narrow', scripts: ['common'] })
  }
}

function has({ fields }: Form, name: string): boolean {
  return fields.some(([given]) => given === name)
}

/** A field that the page did not have is left out, but browsers do not send a box that is not ticked. */
function fieldsOf(
  { fields }: TypedForm,
  { form, confirming }: { form: Form; confirming: TypedField[] },
): TypedField[] {
  const own = fields.filter(({ name, is }) => is === 'tick' || SECRETS.has(is) || has(form, name))
  return [...own, ...confirming.filter(({ name }) => own.every((field) => field.name !== name))]
}

function hiddenIn(
  { fields: sent }: Form,
  { fields, nonce }: { fields: TypedField[]; nonce: string | undefined },
): [string, string][] {
  return sent
    .filter(([name]) => fields.every((field) => field.name !== name))
    .slice(0, MAX_HIDDEN)
    .map(([name, value]) => [name, name === 'nonce' ? (nonce ?? value) : value])
}
