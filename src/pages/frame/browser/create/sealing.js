// Encrypts the content in this browser where the sender chose it, or the page asks for it. What is encrypted,
// and with which code, is loaded then.

import { keepKey } from '../sealed/kept-key.js'
import { CONTENT, forgetName } from '../sealed/template.js'
import { chooser } from './files.js'
import { chooseKind, form, kindOf, payload, setProblem, state, submit } from './form.js'

const box = form.querySelector('[data-seals]')
const choice = document.getElementById('end_to_end')
let sealOnce = null
let linkKey = null

if (box !== null) {
  form.addEventListener('submit', refuseEarly)
  form.addEventListener('sent', ({ detail: path }) => linkKey && keepKey(linkKey, path))
  void begin()
}

/** The choice appears only once this browser has opened what it has sealed. */
async function begin() {
  if (isWanted()) setSealed(true)
  // Everything else of the page comes first.
  else if (document.readyState !== 'complete') {
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }))
  }
  try {
    const age = await import(box.dataset.age)
    await age.testKey()
    if ('recipient' in box.dataset) await requireRecipient(age)
    state.sealedBytes = age.sealedBytes
    state.seal = (tell) => seal(age, tell)
    box.hidden = false
    choice?.addEventListener('change', () => setSealed(choice.checked))
    setSealed(isWanted())
  } catch (cause) {
    // Without encryption, an unencrypted form works as before.
    if (isWanted()) say(cause.isOtherKey ? box.dataset.otherKey : box.dataset.broken)
  }
}

function isWanted() {
  return choice === null || choice.checked
}

/** Throws unless the page's key is the one behind `#` in the link, if there is one. */
async function requireRecipient(age) {
  const { recipient } = box.dataset
  await age.sealText('', [recipient])
  const marked = location.hash.slice(1)
  if (marked === '' || document.getElementById(marked) !== null) return
  if (age.fingerprintOf(recipient) !== marked)
    throw Object.assign(new Error('other key'), { isOtherKey: true })
  form.querySelector('[data-compared]').textContent = box.dataset.sameKey
}

function say(text) {
  const told = document.querySelector('[data-sealing-told]')
  told.textContent = text
  told.hidden = false
}

function setSealed(isSealed) {
  state.isSealed = isSealed
  submit.disabled = isSealed && state.seal === null
  for (const field of form.querySelectorAll(CONTENT)) {
    if (isSealed) forgetName(field)
    else if (field.dataset.name !== undefined) field.name = field.dataset.name
  }
  for (const part of form.querySelectorAll('[data-when-sealed]')) part.hidden = !isSealed
  for (const part of form.querySelectorAll('[data-when-plain]')) part.hidden = isSealed
  if (isSealed && !/text|file/.test(kindOf())) chooseKind('text')
  // Links and QR codes cannot be encrypted.
  for (const kind of form.querySelectorAll('[type=radio][name="push[kind]"]')) {
    kind.disabled = isSealed && !/text|file/.test(kind.value)
    kind.parentElement.title = kind.disabled ? box.dataset.only : ''
  }
  payload?.dispatchEvent(new Event('input', { bubbles: true }))
}

function refuseEarly(event) {
  if (!state.isSealed) return
  const hasFiles = kindOf() === 'file' && chooser !== null && chooser.files.length > 0
  // An answer may be a text alone.
  const hasText = (kindOf() === 'text' || choice === null) && (payload?.value ?? '').trim() !== ''
  if (state.seal !== null && (hasFiles || hasText)) return
  event.preventDefault()
  event.stopImmediatePropagation()
  if (state.seal === null) return
  const isOfFiles = payload === null || (kindOf() === 'file' && choice !== null)
  const field = isOfFiles && chooser !== null ? chooser : payload
  setProblem(field, box.dataset.blank)
  field.focus()
}

async function seal(age, tell) {
  const { createSeal } = await import(box.dataset.seal)
  sealOnce ??= createSeal({ age, form, recipient: box.dataset.recipient ?? null })
  const { body, linkKey: key } = await sealOnce(tell)
  linkKey = key
  return body
}
