// Selects all rows, and asks before pushes are expired.

import { sayNumber } from '../language.js'

let refresh = () => {}

function take() {
  const form = document.querySelector('form.pushes')
  if (form === null) return
  const boxes = [...form.querySelectorAll('input[name=push]')]
  const all = form.querySelector('[data-selects]')
  const every = all.querySelector('input')

  refresh = () => {
    const selected = boxes.filter((box) => box.checked).length
    every.checked = selected === boxes.length
    every.indeterminate = selected > 0 && selected < boxes.length
    endAsking()
  }

  const ask = form.querySelector('[data-asks]')
  const [sure, cancel] = ask.querySelectorAll('button')
  let asker = null

  function endAsking() {
    if (asker === null) return
    asker.hidden = false
    asker = null
    ask.hidden = ask.disabled = true
  }

  form.addEventListener('submit', (event) => {
    const { submitter } = event
    if (submitter === sure || submitter?.matches('.danger') !== true) return
    const isRow = submitter.name === 'only'
    const live = boxes.filter((box) => box.checked && box.closest('li').querySelector('[name=only]') !== null)
    const n = isRow ? 1 : live.length
    if (n === 0) return
    event.preventDefault()
    endAsking()
    asker = submitter
    for (const part of [ask.querySelector('p'), sure])
      part.textContent = sayNumber(JSON.parse(part.dataset.forms), n)
    sure.name = submitter.name
    sure.value = submitter.value
    submitter.after(ask)
    submitter.hidden = true
    ask.hidden = ask.disabled = false
    // Focus the cancel button, so that pressing Enter twice expires nothing.
    cancel.focus()
  })
  cancel.addEventListener('click', () => {
    const before = asker
    endAsking()
    before.focus()
  })
  form.addEventListener('toggle', ({ target }) => !target.open && target.contains(ask) && endAsking(), true)

  all.hidden = false
  every.addEventListener('change', () => {
    for (const box of boxes) box.checked = every.checked
    refresh()
  })
  for (const box of boxes) box.addEventListener('change', refresh)
  refresh()
}

take()
document.addEventListener('replaced', take)
window.addEventListener('pageshow', () => refresh())
