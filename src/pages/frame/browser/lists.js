// Runs in the browser, in the list of an owner: select all.

const form = document.querySelector('form.pushes')
if (form !== null) {
  const boxes = [...form.querySelectorAll('input[name=push]')]
  const all = form.querySelector('[data-selects]')
  const every = all.querySelector('input')

  const refresh = () => {
    const selected = boxes.filter((box) => box.checked).length
    every.checked = selected === boxes.length
    every.indeterminate = selected > 0 && selected < boxes.length
  }

  all.hidden = false
  every.addEventListener('change', () => {
    for (const box of boxes) box.checked = every.checked
    refresh()
  })
  for (const box of boxes) box.addEventListener('change', refresh)
  window.addEventListener('pageshow', refresh)
  refresh()
}
