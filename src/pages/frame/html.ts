// Renders JSX to HTML: the compiler calls these functions for every element (tsconfig.json). Escapes every
// value; there is no way to insert raw HTML.

import type { JSX as Preact } from 'preact'
import type { Words } from '../../words/words.ts'

/** HTML text. Only this file creates it, from elements. */
class Markup {
  constructor(readonly text: string) {}
}

export type Html = Markup

/** The content of an element. Null, undefined and booleans render nothing. */
export type Children = Html | string | number | boolean | null | undefined | readonly Children[]

type Attributes = Readonly<Record<string, unknown>>
type Component = (props: never) => Children

export namespace JSX {
  export type Element = Html
  export type ElementType = keyof IntrinsicElements | Component
  export interface ElementChildrenAttribute {
    children: unknown
  }
  export type IntrinsicElements = {
    [Name in keyof Preact.IntrinsicElements]: WithChildren<Preact.IntrinsicElements[Name]>
  }
}

/** The attributes of an element as Preact types them, with the children of this file. */
type WithChildren<P> = P extends unknown ? Omit<P, 'children'> & { children?: Children } : never

/** Elements without an end tag (HTML, 13.1.2). */
const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

export function jsx(type: string | ((props: Attributes) => Children), props: Attributes): Html {
  if (typeof type !== 'string') {
    const made = type(props)
    return made instanceof Markup ? made : new Markup(write(made))
  }
  let html = `<${type}`
  for (const name in props) if (name !== 'children') html += attribute(name, props[name])
  return new Markup(VOID.has(type) ? `${html}>` : `${html}>${write(props.children)}</${type}>`)
}

export function Fragment({ children }: { children?: Children }): Html {
  return new Markup(write(children))
}

/** The names under which the compiler calls `jsx` for several children and in development. */
export { jsx as jsxDEV, jsx as jsxs }

/**
 * Flattens a rendering that is kept. It is a rope string, and searching it makes the engine flatten it once
 * instead of on each page.
 */
export function flattened(html: Html): Html {
  html.text.includes('\0')
  return html
}

/** Caches a rendering per language. Use it only for content that depends on nothing else. */
export function oncePerLanguage(render: (words: Words) => Html): (words: Words) => Html {
  const written = new Map<Words, Html>()
  return (words) => {
    const known = written.get(words)
    if (known !== undefined) return known
    const html = flattened(render(words))
    written.set(words, html)
    return html
  }
}

function write(children: unknown): string {
  if (typeof children === 'string') return Bun.escapeHTML(children)
  if (children instanceof Markup) return children.text
  if (Array.isArray(children)) {
    let html = ''
    for (const child of children) html += write(child)
    return html
  }
  if (typeof children === 'number') return String(children)
  if (children === null || children === undefined || typeof children === 'boolean') return ''
  throw new TypeError('A page can show only texts, numbers and elements.')
}

/** Returns the attribute as text: without a value for true, '' for false, null and undefined. */
function attribute(name: string, value: unknown): string {
  if (value === undefined || value === null || value === false) return ''
  if (value === true) return ` ${name}`
  if (typeof value === 'string') return ` ${name}="${Bun.escapeHTML(value)}"`
  if (typeof value === 'number') return ` ${name}="${value}"`
  throw new TypeError(`The attribute ${name} can be only a text, a number or a boolean.`)
}
