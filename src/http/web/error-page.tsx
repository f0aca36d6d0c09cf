// A refusal as a page.

import { Page, renderPage } from './page.tsx'

export function renderErrorPage(status: number, message: string): string {
  const title = status === 404 ? 'Nothing here' : 'That did not work'
  const text = status === 404 ? 'There is no page at this address.' : message
  return renderPage(
    <Page title={title}>
      <h1>{title}</h1>
      <p>{text}</p>
    </Page>,
  )
}
