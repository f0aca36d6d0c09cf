// Puts a form that needs scripts in its place, without names on the fields of content: whatever fails later,
// the browser has nothing to send.

/** The fields that hold content. A passphrase is checked by the server. */
export const CONTENT = '[data-secret], input[type=file]'

for (const template of document.querySelectorAll('template[data-needs-script]')) {
  for (const field of template.content.querySelectorAll(CONTENT)) forgetName(field)
  template.previousElementSibling.remove()
  template.replaceWith(template.content)
}

export function forgetName(field) {
  if (field.name !== '') field.dataset.name = field.name
  field.removeAttribute('name')
}
