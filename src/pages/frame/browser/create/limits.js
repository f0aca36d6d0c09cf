// Checks fields against the server's limits before anything is sent.

import { form, payload, setProblem, state } from './form.js'

const fields = [...form.querySelectorAll(':is(input, textarea)[data-too-long]')]
const encoder = new TextEncoder()

for (const field of fields) field.addEventListener('input', () => check(field))

form.addEventListener('submit', (event) => {
  // Skip hidden fields of other kinds: they are sent, but the server ignores them.
  const faulty = fields.filter((field) => field.offsetParent !== null && !check(field))
  if (faulty.length === 0) return
  event.preventDefault()
  event.stopImmediatePropagation()
  faulty[0].focus()
})

/** Returns true if the field is within its limit; otherwise shows the problem. */
function check(field) {
  const { maxBytes = Infinity, maxCharacters = Infinity, tooLong } = field.dataset
  const isTooLong = bytesOf(field) > Number(maxBytes) || charactersOf(field.value) > Number(maxCharacters)
  setProblem(field, isTooLong ? tooLong : '')
  return !isTooLong
}

function bytesOf(field) {
  if (field === payload && state.isSealed && state.sealedBytes !== null) return state.sealedBytes(field.value)
  return encoder.encode(field.value).length
}

function charactersOf(text) {
  return [...text].length
}
