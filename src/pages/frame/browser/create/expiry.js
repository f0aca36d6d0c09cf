// Updates the expiry summary from the exact fields. The style sheet does this for the chips.

import { sayNumber } from '../language.js'
import { form } from './form.js'

const box = document.querySelector('.expiry')
const forms = JSON.parse(box.dataset.forms)
const time = document.getElementById('expire_after')
const unit = document.getElementById('expire_unit')
const views = document.getElementById('expire_after_views')

form.addEventListener('input', show)
show()

function show() {
  showIn('expire-exact', forms[unit.value], time)
  showIn('views-exact', forms.views, views)
}

function showIn(id, texts, field) {
  const number = field.valueAsNumber
  const text = Number.isInteger(number) && number > 0 ? sayNumber(texts, number) : '…'
  box.querySelector(`[data-when="${id}"]`).textContent = text
}
