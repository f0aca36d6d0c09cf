// The payload: kept when the kind changes, hidden or counted on request, and sent with Ctrl+Enter.

import { completeWebAddress } from '../../../share/create/web-address.ts'
import { chooseKind, form, kindOf, payload, sayBytes, state, submit } from './form.js'

const link = document.getElementById('link')
const qr = document.getElementById('qr')
const FIELDS = { text: payload, file: payload, url: link, qr }

let kind = kindOf()
form.addEventListener('change', ({ target }) => {
  if (target.name === 'push[kind]') changeKind()
})

function changeKind() {
  // Wi-Fi has its own fields, so keep the earlier text for the next kind.
  if (kindOf() === 'wifi') return
  const [from, to] = [FIELDS[kind], FIELDS[kindOf()]]
  kind = kindOf()
  if (to === null || from === to || to.value !== '' || from.value === '') return
  // A single-line field would join the lines.
  if (to === link && from.value.includes('\n')) return
  to.value = from.value
  from.value = ''
  for (const field of [from, to]) field.dispatchEvent(new Event('input', { bubbles: true }))
}

link?.addEventListener('change', () => {
  link.value = completeWebAddress(link.value)
})

const offer = document.querySelector('[data-offers]')
offer?.addEventListener('click', () => {
  chooseKind('url')
  link.focus()
})
payload.addEventListener('input', offerLink)
offerLink()

/** Offers to make a link of a text that consists of one address. */
function offerLink() {
  if (offer === null) return
  const isAddress = /^https?:\/\/\S+$/i.test(payload.value.trim()) && URL.canParse(payload.value.trim())
  offer.hidden = !isAddress || link.value !== '' || state.isSealed
}

const mask = document.querySelector('[data-masks]')
mask.hidden = false
mask.addEventListener('click', () => {
  const isMasked = payload.classList.toggle('masked')
  mask.textContent = isMasked ? mask.dataset.show : mask.dataset.hide
})

const counter = document.querySelector('[data-counts]')
function count() {
  const characters = [...payload.value].length
  const lines = payload.value.split('\n').length
  const isSealed = state.isSealed && state.sealedBytes !== null
  const texts = isSealed
    ? [counter.dataset.sealed.replace('{size}', () => sayBytes(state.sealedBytes(payload.value)))]
    : [counter.dataset.characters.replace('{n}', characters)]
  if (lines > 1 && !isSealed) texts.push(counter.dataset.lines.replace('{n}', lines))
  counter.textContent = characters === 0 ? '' : texts.join(' · ')
}
payload.addEventListener('input', count)
count()

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const shortcut = document.querySelector('[data-shortcut]')
if (isApple) shortcut.querySelector('kbd').textContent = '⌘'
shortcut.hidden = !matchMedia('(hover: hover) and (pointer: fine)').matches

form.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.isComposing || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  form.requestSubmit(submit)
})

const preview = document.querySelector('[data-preview]')
form.addEventListener('change', loadPreview)
loadPreview()

/** Loads the code that draws QR codes only when it is needed. */
function loadPreview() {
  if (preview !== null && /qr|wifi/.test(kindOf())) void import(preview.dataset.preview)
}
