// A refusal as a page.

import { Page, renderPage } from './page.tsx'

export const ERROR_PAGE_POLICY = "style-src 'self'"

export type ErrorPage = { status: number; message: string; stylesheet: string }

export function renderErrorPage({ status, message, stylesheet }: ErrorPage): string {
  const title = status === 404 ? 'Nothing here' : 'That did not work'
  const text = status === 404 ? 'There is no page at this address.' : message
  return renderPage(
    <Page title={title} stylesheet={stylesheet}>
      <h1>{title}</h1>
      <p>{text}</p>
    </Page>,
  )
}
