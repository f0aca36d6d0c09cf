// The forms of a page as a browser without scripts sees them: where each is sent, and what it would send.

export type Control = { name: string; type: string; value: string; isTyped: boolean }
export type FoundForm = { action: string; controls: Control[] }

/** Inputs that a person types into. */
const TYPED = new Set(['text', 'email', 'password', 'number', 'search'])

export function formsIn(html: string): FoundForm[] {
  const forms: FoundForm[] = []
  let area: Control | null = null
  const add = (control: Control) => forms.at(-1)?.controls.push(control)
  new HTMLRewriter()
    .on('form', {
      element: (form) => {
        forms.push({ action: plainOf(form.getAttribute('action') ?? ''), controls: [] })
      },
    })
    .on('form input', {
      element: (input) => {
        const name = input.getAttribute('name')
        const type = input.getAttribute('type') ?? 'text'
        const isLeftOut = ['checkbox', 'radio'].includes(type) && !input.hasAttribute('checked')
        if (name === null || isLeftOut || input.hasAttribute('disabled')) return
        add({ name, type, value: plainOf(input.getAttribute('value') ?? ''), isTyped: TYPED.has(type) })
      },
    })
    .on('form textarea', {
      element: (element) => {
        area = { name: element.getAttribute('name') ?? '', type: 'textarea', value: '', isTyped: true }
        add(area)
      },
      text: ({ text }) => {
        if (area !== null) area.value += text
      },
    })
    .on('form select', {
      element: (element) => {
        area = null
        add({ name: element.getAttribute('name') ?? '', type: 'select', value: '', isTyped: false })
      },
    })
    .on('form option[selected]', {
      element: (option) => {
        const select = forms.at(-1)?.controls.findLast(({ type }) => type === 'select')
        if (select !== undefined) select.value = plainOf(option.getAttribute('value') ?? '')
      },
    })
    .transform(html)
  for (const control of forms.flatMap(({ controls }) => controls))
    if (control.type === 'textarea') control.value = plainOf(control.value).replace(/^\n/, '')
  return forms
}

export function formOf(html: string, action: string): FoundForm {
  const found = formsIn(html).find((form) => form.action === action)
  if (found === undefined) throw new Error(`the page has no form for ${action}`)
  return found
}

/** What the form sends when nothing in it is changed. */
export function fieldsOf({ controls }: FoundForm): Record<string, string> {
  return Object.fromEntries(controls.map(({ name, value }) => [name, value]))
}

function plainOf(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
}
