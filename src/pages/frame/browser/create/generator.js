// Generates passwords and passphrases from the browser's CSPRNG, and remembers the options.

import { below, drawWords } from './draw.js'

const box = document.querySelector('[data-generator]')
const button = document.querySelector('[data-generates]')
const payload = document.getElementById(button.dataset.generates)
const strength = document.querySelector('[data-strength]')
const field = (name) => document.getElementById(`generator-${name}`)

const SETS = {
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  lower: 'abcdefghijklmnopqrstuvwxyz',
  digits: '0123456789',
  marks: '!#$%&*+-=?@^_~',
}
/** Characters that are easily confused on paper. */
const UNCLEAR = /[0OIl1|]/g
const WORD_BITS = 11
const REMEMBERED = 'oncebox-generator'
const OPTIONS = ['mode', 'length', 'count', 'separator', ...Object.keys(SETS), 'clear']

/** The text that was generated last. */
let last = ''

recall()
showMode()
button.hidden = box.hidden = false
button.addEventListener('click', generate)
box.addEventListener('change', change)
// Enter in these fields must not submit the form.
box.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.target.tagName !== 'INPUT') return
  event.preventDefault()
  change()
})

/** Generates again when the options change, but never replaces what was typed. */
function change() {
  remember()
  showMode()
  if (payload.value === '' || isThere()) void generate()
}

function isThere() {
  return last !== '' && payload.value.includes(last)
}

function showMode() {
  const mode = field('mode').value
  for (const part of box.querySelectorAll('[data-mode]')) part.hidden = part.dataset.mode !== mode
}

/** Replaces the text that was generated last. Otherwise inserts at the cursor and keeps all other text. */
async function generate() {
  const { text, bits } = field('mode').value === 'words' ? await phrase() : characters()
  const start = isThere() ? payload.value.indexOf(last) : payload.selectionStart
  const end = isThere() ? start + last.length : payload.selectionEnd
  payload.setRangeText(text, start, end, 'end')
  last = text
  strength.textContent = strength.dataset[wordFor(bits)]
  button.querySelector('span').textContent = button.dataset.again
  payload.dispatchEvent(new Event('input', { bubbles: true }))
}

function characters() {
  const length = clamp(field('length'), 20)
  const chosen = Object.keys(SETS).filter((name) => field(name).checked)
  if (chosen.length === 0) {
    field('lower').checked = true
    chosen.push('lower')
  }
  const sets = chosen.map((name) => (field('clear').checked ? SETS[name].replace(UNCLEAR, '') : SETS[name]))
  const all = sets.join('')
  // Reject until each set occurs: so all valid passwords are equally likely.
  for (;;) {
    const text = Array.from({ length }, () => all[below(all.length)]).join('')
    if (sets.every((set) => [...text].some((character) => set.includes(character)))) {
      return { text, bits: length * Math.log2(all.length) }
    }
  }
}

async function phrase() {
  const number = clamp(field('count'), 6)
  const text = (await drawWords(number)).join(field('separator').value)
  return { text, bits: number * WORD_BITS }
}

function clamp(input, preset) {
  const value = Math.round(Number(input.value)) || preset
  const fitting = Math.min(Number(input.max), Math.max(Number(input.min), value))
  if (String(fitting) !== input.value) input.value = fitting
  return fitting
}

function wordFor(bits) {
  if (bits < 45) return 'weak'
  if (bits < 60) return 'fair'
  return bits < 80 ? 'strong' : 'excellent'
}

function remember() {
  const values = OPTIONS.map((name) => {
    const input = field(name)
    return [name, input.type === 'checkbox' ? input.checked : input.value]
  })
  try {
    localStorage.setItem(REMEMBERED, JSON.stringify(Object.fromEntries(values)))
  } catch {
    // Storage is optional.
  }
}

function recall() {
  let values = {}
  try {
    values = JSON.parse(localStorage.getItem(REMEMBERED) ?? '{}')
  } catch {
    return
  }
  for (const name of OPTIONS) {
    const input = field(name)
    if (typeof values[name] === 'boolean') input.checked = values[name]
    else if (typeof values[name] === 'string') input.value = values[name]
  }
}
