// Reads the facts of a page: which elements it has and what they say, not how their HTML is written.

export type PageElement = { tag: string; attributes: Readonly<Record<string, string>>; text: string }

/** Returns the elements that match a CSS selector, in document order. `text` includes that of descendants. */
export function elementsIn(html: string, selector: string): PageElement[] {
  const elements: PageElement[] = []
  const open = new Set<PageElement>()
  new HTMLRewriter()
    .on(selector, {
      element: (element) => {
        const attributes = [...element.attributes].map(([name, value]) => [name, unescaped(value)])
        const read = { tag: element.tagName, attributes: Object.fromEntries(attributes), text: '' }
        elements.push(read)
        if (VOID.has(read.tag)) return
        open.add(read)
        element.onEndTag(() => {
          open.delete(read)
        })
      },
    })
    .onDocument({
      text: (chunk) => {
        for (const element of open) element.text += chunk.text
      },
    })
    .transform(html)
  for (const element of elements) element.text = unescaped(element.text)
  return elements
}

/** Returns the texts of the elements that match. */
export function textsIn(html: string, selector: string): string[] {
  return elementsIn(html, selector).map(({ text }) => text.trim())
}

/** Returns the values of an attribute, of the elements that match and have it. */
export function attributesIn(html: string, selector: string, name: string): string[] {
  return elementsIn(html, selector).flatMap(({ attributes }) => attributes[name] ?? [])
}

/** Returns the value of the first input or button with the name; '' if the page has none. */
export function valueIn(html: string, name: string): string {
  return attributesIn(html, `[name="${name}"][value]`, 'value')[0] ?? ''
}

/** Returns the facts that most tests ask for. A link or button without text is read by its `aria-label`. */
export function factsOf(html: string) {
  const said = ({ text, attributes }: PageElement) => text.trim() || attributes['aria-label'] || ''
  const links = elementsIn(html, 'a[href]').map((link) => [said(link), link.attributes.href ?? ''] as const)
  return {
    language: attributesIn(html, 'html', 'lang')[0],
    title: textsIn(html, 'title')[0],
    headings: textsIn(html, 'h1, h2, h3'),
    notices: elementsIn(html, '.notice').map(({ attributes, text }) => ({
      kind: attributes.class?.replace('notice ', ''),
      text: text.trim(),
    })),
    /** The problems beside the fields, by the id of the field. */
    problems: Object.fromEntries(
      elementsIn(html, '.problem')
        .filter(({ text }) => text !== '')
        .map(({ attributes, text }) => [attributes.id?.replace(/-problem$/, ''), text]),
    ) as Record<string, string>,
    fields: fieldsIn(html),
    buttons: elementsIn(html, 'button').map(said),
    /** Text and address of each link. */
    links,
  }
}

/** Returns what the forms of the page would send, by name. The first control of a name wins. */
export function fieldsIn(html: string): Record<string, string> {
  const controls = formsIn(html).flatMap((form) => form.controls)
  return Object.fromEntries(controls.reverse().map(({ name, value }) => [name, value]))
}

export type Control = { name: string; type: string; value: string; isTyped: boolean }
export type PageForm = { action: string; controls: Control[] }

const CONTROLS = 'form, form input, form textarea, form select, form option[selected]'

/** Inputs that a person types into. */
const TYPED = new Set(['text', 'email', 'password', 'number', 'search'])

/** Elements without an end tag (HTML, 13.1.2). */
const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

/** Returns each form with the controls that a browser without scripts would send. */
export function formsIn(html: string): PageForm[] {
  const forms: PageForm[] = []
  for (const { tag, attributes, text } of elementsIn(html, CONTROLS)) {
    const { name = '', value = '', type = tag === 'input' ? 'text' : tag } = attributes
    const controls = forms.at(-1)?.controls ?? []
    if (tag === 'form') forms.push({ action: attributes.action ?? '', controls: [] })
    else if (tag === 'option') {
      const select = controls.at(-1)
      if (select?.type === 'select') select.value = value
    } else if (tag === 'textarea')
      controls.push({ name, type, value: text.replace(/^\n/, ''), isTyped: true })
    else if (isSent(tag, attributes)) controls.push({ name, type, value, isTyped: TYPED.has(type) })
  }
  return forms
}

function isSent(tag: string, { type = 'text', ...attributes }: PageElement['attributes']): boolean {
  if (tag !== 'input') return true
  const isOff = ['checkbox', 'radio'].includes(type) && attributes.checked === undefined
  return attributes.name !== undefined && attributes.disabled === undefined && !isOff
}

export function formOf(html: string, action: string): PageForm {
  const form = formsIn(html).find((candidate) => candidate.action === action)
  if (form === undefined) throw new Error(`the page has no form for ${action}`)
  return form
}

/** Returns the fields that an unchanged form sends. */
export function fieldsOf({ controls }: PageForm): Record<string, string> {
  return Object.fromEntries(controls.map(({ name, value }) => [name, value]))
}

/** The entities that Bun.escapeHTML writes. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
}
