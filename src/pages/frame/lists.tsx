// Facts, tables and lists, with their pagination and search field.

import type { Words } from '../../words/words.ts'
import type { Guest } from './guest.ts'
import type { Children } from './html.ts'
import { Icon } from './icons.tsx'

export type Fact = readonly [label: string, value: Children]

/** A list of facts. Skips items that are false or null. */
export function Facts({ of, look }: { of: readonly (Fact | false | null)[]; look?: string }) {
  return (
    <dl class={look === undefined ? 'facts' : `facts ${look}`}>
      {of.map(
        (fact) =>
          fact && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  )
}

type TableProps = {
  heads: readonly string[]
  rows: readonly (readonly Children[])[]
  isCode?: boolean
  look?: string
}

/** A table. The first cell of a row is its heading. On phones each row becomes a list with labelled cells. */
export function Table({ heads, rows, isCode = false, look }: TableProps) {
  return (
    <table class={look === undefined ? 'stacks' : `stacks ${look}`} dir={isCode ? 'ltr' : undefined}>
      <thead>
        <tr>
          {heads.map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...cells]) => (
          <tr>
            <th scope="row">{first}</th>
            {cells.map((cell, at) => (
              <td data-label={heads[at + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type RowProps = {
  title: Children
  tooltip?: string
  beside?: Children
  action?: Children
  children: Children
}

/** A row of a `ul.rows`: its title, details and actions. */
export function Row({ title, tooltip, beside, action, children }: RowProps) {
  return (
    <li>
      <div>
        <strong title={tooltip}>
          <bdi>{title}</bdi>
        </strong>{' '}
        {beside}
        {children}
      </div>
      {action}
    </li>
  )
}

type Tab = { href: string; text: Children; isShown: boolean }

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, text, isShown }) => (
        <a href={href} aria-current={isShown ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/**
 * The table of contents of a long page, first in a `.indexed`: folded on phones, at the left of a wide
 * window.
 */
export function Contents({ label, children }: { label: string; children: Children }) {
  return (
    // Focusable, because it scrolls when it is at the left.
    <nav aria-label={label} tabIndex={0}>
      <details>
        <summary>{label}</summary>
        {children}
      </details>
    </nav>
  )
}

/** Links to the CSV and JSON files of a list. */
export function ExportLinks({ guest, csv, json }: { guest: Guest; csv: string; json: string }) {
  const { basePath, words } = guest
  return (
    <p class="links">
      <a href={`${basePath}${csv}`}>{words.say('audit_csv')}</a>
      <a href={`${basePath}${json}`}>{words.say('audit_json')}</a>
    </p>
  )
}

type PageLinksProps = {
  guest: Guest
  pageNumber: number
  hasNext: boolean
  linkTo: (pageNumber: number) => string
  /** The text between the links. */
  children?: Children
}

/** Links to the previous and next page. Renders nothing for a list of one page. */
export function PageLinks({ guest, pageNumber, hasNext, linkTo, children }: PageLinksProps) {
  const { say } = guest
  if (pageNumber === 1 && !hasNext) return null
  return (
    <nav class="pages" aria-label={say('pages')}>
      {pageNumber > 1 && (
        <a href={linkTo(pageNumber - 1)} rel="prev">
          {say('page_before')}
        </a>
      )}
      {children}
      {hasNext && (
        <a href={linkTo(pageNumber + 1)} rel="next">
          {say('page_after')}
        </a>
      )}
    </nav>
  )
}

type SearchProps = { words: Words; label: string; value: string; shortcut?: string }

/** The search field, named `q`, with its button. */
export function SearchInput({ words, label, value, shortcut }: SearchProps) {
  return (
    <div class="words trailing">
      <input
        id="q"
        name="q"
        type="search"
        dir="auto"
        value={value}
        maxlength={200}
        placeholder={label}
        aria-label={label}
        aria-keyshortcuts={shortcut}
      />
      <button type="submit" class="bare" aria-label={words.say('search')}>
        <Icon name="search" />
      </button>
    </div>
  )
}
