// Links to the previous and the next page of a list.

import type { ComponentChildren } from 'preact'
import type { Guest } from './guest.ts'

export type PageLinksProps = {
  guest: Guest
  pageNumber: number
  hasNext: boolean
  linkTo: (pageNumber: number) => string
  /** The text between the links. */
  children: ComponentChildren
}

/** Nothing for a list of one page. */
export function PageLinks({ guest, pageNumber, hasNext, linkTo, children }: PageLinksProps) {
  const { say } = guest.words
  if (pageNumber === 1 && !hasNext) return null
  return (
    <nav class="pages" aria-label={say('pages')}>
      {pageNumber > 1 ? (
        <a href={linkTo(pageNumber - 1)} rel="prev">
          {say('page_before')}
        </a>
      ) : null}
      {children}
      {hasNext ? (
        <a href={linkTo(pageNumber + 1)} rel="next">
          {say('page_after')}
        </a>
      ) : null}
    </nav>
  )
}
