// Checks what is typed against the limits before anything is sent, as the server does.

import { form, setProblem } from './form.js'

const fields = [...form.querySelectorAll(':is(input, textarea)[data-too-long]')]
const encoder = new TextEncoder()

for (const field of fields) field.addEventListener('input', () => check(field))

form.addEventListener('submit', (event) => {
  // Fields of another kind are sent, and not looked at.
  const faulty = fields.filter((field) => field.offsetParent !== null && !check(field))
  if (faulty.length === 0) return
  event.preventDefault()
  event.stopImmediatePropagation()
  faulty[0].focus()
})

/** Whether it is short enough. */
function check(field) {
  const { maxBytes = Infinity, maxCharacters = Infinity, tooLong } = field.dataset
  const isTooLong =
    bytesOf(field.value) > Number(maxBytes) || charactersOf(field.value) > Number(maxCharacters)
  setProblem(field, isTooLong ? tooLong : '')
  return !isTooLong
}

/** A JavaScript character has three bytes of UTF-8 at most. */
function bytesOf(text) {
  return encoder.encode(text).length
}

function charactersOf(text) {
  return [...text].length
}
