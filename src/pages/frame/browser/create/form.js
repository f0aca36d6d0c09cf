// The create form, and the state and functions that its parts share.

import { createSayBytes } from '../../../../words/bytes.ts'
import { lang } from '../language.js'

export const form = document.querySelector('form.create')
export const submit = form.querySelector('.actions button[type=submit]')
export const payload = document.getElementById('payload')

/**
 * `isSending`: files are being sent. `isLeaving`: the page is about to be left without asking. `isSealed`: the
 * content is sent as what `seal` resolves to, which is null until that is loaded; `sealedBytes` returns how
 * many bytes a text takes then.
 */
export const state = { isSending: false, isLeaving: false, isSealed: false, seal: null, sealedBytes: null }

export function kindOf() {
  return form.elements['push[kind]'].value
}

export function chooseKind(wanted) {
  const choice = document.getElementById(`kind-${wanted}`)
  if (choice === null || choice.checked || choice.disabled) return
  choice.checked = true
  choice.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Shows a problem beside its field; '' removes it. */
export function setProblem(field, text) {
  document.getElementById(`${field.id}-problem`).textContent = text
  if (text === '') field.removeAttribute('aria-invalid')
  else field.setAttribute('aria-invalid', 'true')
}

export function sayUnit(value, unit, options = {}) {
  return new Intl.NumberFormat(lang, { style: 'unit', unit, ...options }).format(value)
}

export const sayBytes = createSayBytes(lang)
