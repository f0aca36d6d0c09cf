// Runs where a password for an account is chosen: rates it by the same rules as the server.

import { createScorePassword } from '../../../accounts/password-score.ts'
import { LEAST_PASSWORD_SCORE } from '../../../domain/account.ts'

const field = document.querySelector('input[autocomplete=new-password]')
const box = document.querySelector('[data-strength]')
const [meter] = box.getElementsByTagName('meter')
const [told] = box.getElementsByTagName('output')
const email = document.querySelector('[autocomplete=username]')

let scorePassword
field.addEventListener('input', () => {
  scorePassword ??= createScorePassword()
  const { instance, weak, fair, strong } = box.dataset
  const score = scorePassword(field.value, { instance, email: email.value })
  box.hidden = field.value === ''
  meter.value = score + 1
  told.textContent = score < LEAST_PASSWORD_SCORE ? weak : score === LEAST_PASSWORD_SCORE ? fair : strong
})
