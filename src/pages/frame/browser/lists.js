// Runs in the browser, in the list of an owner: select all, buttons that wait for a selection, one open menu at a time.

const form = document.querySelector('form.pushes')
if (form !== null) {
  const boxes = [...form.querySelectorAll('input[name=push]')]
  const buttons = form.querySelectorAll('[data-selected] button')
  const all = form.querySelector('[data-selects]')
  const every = all.querySelector('input')

  const refresh = () => {
    const selected = boxes.filter((box) => box.checked).length
    every.checked = selected === boxes.length
    every.indeterminate = selected > 0 && selected < boxes.length
    for (const button of buttons) button.disabled = selected === 0
    form.classList.toggle('selecting', selected > 0)
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

const menus = [...document.querySelectorAll('.rows .menu')]
for (const menu of menus) {
  menu.addEventListener('toggle', () => {
    if (menu.open) for (const other of menus) other.open = other === menu
  })
}
document.addEventListener('click', ({ target }) => {
  for (const menu of menus) if (!menu.contains(target)) menu.open = false
})
document.addEventListener('keydown', ({ key }) => {
  const open = key === 'Escape' ? menus.find((menu) => menu.open) : undefined
  if (open === undefined) return
  open.open = false
  open.querySelector('summary').focus()
})
