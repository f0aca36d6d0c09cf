// Passwords and passphrases from the browser's own randomness, with options that it remembers.

const box = document.querySelector('[data-generator]')
const output = document.getElementById('generated')
const strength = document.querySelector('[data-strength]')
const field = (name) => document.getElementById(`generator-${name}`)

const SETS = {
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  lower: 'abcdefghijklmnopqrstuvwxyz',
  digits: '0123456789',
  marks: '!#$%&*+-=?@^_~',
}
/** Easily taken for one another on paper. */
const UNCLEAR = /[0OIl1|]/g
const REMEMBERED = 'oncebox-generator'
const OPTIONS = ['mode', 'length', 'count', 'separator', ...Object.keys(SETS), 'clear']

let words = null

recall()
const opener = document.querySelector('[data-opens=generator]')
opener.hidden = false
opener.addEventListener('click', () => {
  box.hidden = false
  box.open = !box.open
  if (box.open) box.querySelector('summary').focus()
})
box.addEventListener('toggle', () => {
  opener.setAttribute('aria-expanded', box.open)
  if (box.open) return generate()
  if (box.contains(document.activeElement)) opener.focus()
  box.hidden = true
})
box.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
    remember()
    void generate()
  }
})
box.querySelector('[data-again]').addEventListener('click', generate)
box.querySelector('[data-use]').addEventListener('click', () => {
  const payload = document.getElementById('payload')
  payload.value = output.textContent
  payload.dispatchEvent(new Event('input', { bubbles: true }))
  payload.focus()
})
// Enter in one of these fields makes another, and does not send the form.
box.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.target.tagName !== 'INPUT') return
  event.preventDefault()
  remember()
  void generate()
})

async function generate() {
  const mode = field('mode').value
  for (const part of box.querySelectorAll('[data-mode]')) part.hidden = part.dataset.mode !== mode
  const { text, bits } = mode === 'words' ? await phrase() : characters()
  output.textContent = text
  strength.textContent = strength.dataset[wordFor(bits)]
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
  // Drawn again until each kind is there, so that every such password is as likely as any other.
  for (;;) {
    const text = Array.from({ length }, () => all[below(all.length)]).join('')
    if (sets.every((set) => [...text].some((character) => set.includes(character)))) {
      return { text, bits: length * Math.log2(all.length) }
    }
  }
}

async function phrase() {
  const number = clamp(field('count'), 6)
  words = words ?? (await import(box.dataset.words)).wordlist
  const text = Array.from({ length: number }, () => words[below(words.length)]).join(field('separator').value)
  return { text, bits: number * Math.log2(words.length) }
}

/** An even draw: what would favour the smaller numbers is drawn again. */
function below(limit) {
  const draw = new Uint32Array(1)
  const fair = Math.floor(2 ** 32 / limit) * limit
  do crypto.getRandomValues(draw)
  while (draw[0] >= fair)
  return draw[0] % limit
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
    // A browser that keeps nothing works all the same.
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
